"""Samples of the gamma function and its relatives: away from poles, and from 0 and 1 in integrals."""

from __future__ import annotations

from hypothesis import strategies as st

from . import away, floats, integers, operands, positive

BETWEEN_POLES = away(floats(-1.7, 4.0), -2.0, -1.0, 0.0, margin=0.3)
SHAPE = floats(0.3, 4.0)
INSIDE = floats(0.1, 0.9)

SAMPLES = {
    "gammaln": operands(BETWEEN_POLES),
    "log_peak": operands(positive()),
    "log_ratio": operands(positive(), positive()),
    "fallen_from": operands(positive(), positive()),
    "gamma": operands(BETWEEN_POLES),
    "digamma": operands(BETWEEN_POLES),
    "polygamma": operands(BETWEEN_POLES, n=st.integers(1, 3)),
    "loggamma": operands(positive(0.3, 4.0)),
    "rgamma": operands(floats(-2.5, 4.0)),
    "betaln": operands(SHAPE, SHAPE),
    "beta": operands(SHAPE, SHAPE),
    "gammasgn": operands(BETWEEN_POLES),
    "poch": operands(SHAPE, floats(0.1, 2.0)),
    "binom": operands(floats(2.5, 4.0), floats(0.2, 2.0)),
    "zeta": operands([integers(2, 5), floats(1.3, 5.0)], SHAPE, weak=False),
    "zeta_of_logs": operands(floats(1.3, 5.0), SHAPE, n=st.integers(1, 2)),
    "riemann_zeta": operands(away(floats(-4.0, 5.0), 1.0, margin=0.3)),
    "log_gamma_pdf": operands(SHAPE, floats(0.2, 5.0)),
    "log_beta_pdf": operands(SHAPE, SHAPE, INSIDE),
    "gammainc": operands(SHAPE, floats(0.2, 5.0)),
    "gammaincc": operands(SHAPE, floats(0.2, 5.0)),
    "gammaincinv": operands(SHAPE, INSIDE),
    "gammainccinv": operands(SHAPE, INSIDE),
    "betainc": operands(SHAPE, SHAPE, INSIDE),
    "betaincc": operands(SHAPE, SHAPE, INSIDE),
    "betaincinv": operands(SHAPE, SHAPE, INSIDE),
}
