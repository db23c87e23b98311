"""Distributions and statistics of ``scipy.stats``, differentiable by data and parameters.

A distribution is an object with SciPy's methods; called with its parameters, it holds them.

>>> import funcgrad
>>> from funcgrad.scipy import stats
>>> def loss(loc, scale):
...     return -stats.norm(loc, scale).logpdf([1.0, 2.0, 6.0]).sum()
>>> [float(g.round(4)) for g in funcgrad.grad(loss, argnums=(0, 1))(3.0, 2.0)]
[0.0, -0.25]
"""

from .betas import beta, betaprime, f, t
from .bounded import anglit, bradford, truncexpon
from .burrs import burr, burr12, exponweib, laplace_asymmetric, skellam
from .circular import vonmises, wrapcauchy
from .comparing import (
    chisquare,
    f_oneway,
    jarque_bera,
    power_divergence,
    ttest_1samp,
    ttest_ind,
    ttest_ind_from_stats,
    ttest_rel,
)
from .counts import (
    bernoulli,
    betabinom,
    betanbinom,
    binom,
    geom,
    hypergeom,
    nbinom,
    poisson,
    randint,
)
from .cut_off import truncpareto, truncweibull_min
from .descriptive import kurtosis, moment, sem, skew, variation, zscore
from .directions import vonmises_fisher
from .doubled import dgamma, dweibull, loglaplace, skewcauchy
from .elementary import (
    cauchy,
    gumbel_l,
    gumbel_r,
    halfcauchy,
    halflogistic,
    laplace,
    logistic,
    pareto,
    rayleigh,
    triang,
    uniform,
    weibull_min,
)
from .elliptical import multivariate_normal, multivariate_t
from .extremes import genextreme, genpareto, gompertz, lomax, weibull_max
from .folded import foldcauchy, foldnorm, halfgennorm
from .gammas import chi2, expon, gamma, gennorm, invgamma, loggamma
from .kernels import gaussian_kde
from .matrices import invwishart, matrix_normal, wishart
from .means import entropy, gmean, hmean, pmean
from .monotone import (
    genlogistic,
    hypsecant,
    invweibull,
    johnsonsu,
    loguniform,
    moyal,
    powerlaw,
    reciprocal,
)
from .noncentral import ncx2
from .normal import halfnorm, lognorm, norm
from .of_normal import fatiguelife, johnsonsb, powerlognorm, powernorm
from .ordered import (
    friedmanchisquare,
    kendalltau,
    kruskal,
    ks_1samp,
    ks_2samp,
    kstest,
    mannwhitneyu,
    ranksums,
    wilcoxon,
)
from .pairs import energy_distance, linregress, pearsonr, spearmanr, wasserstein_distance
from .peaks import crystalball, norminvgauss
from .pearson import pearson3
from .powers import chi, exponpow, fisk, gengamma, maxwell, nakagami
from .ranks import mode, rankdata
from .series import dlaplace, logser, planck, yulesimon, zipf
from .simplex import dirichlet, dirichlet_multinomial, multinomial
from .skewed import exponnorm, invgauss, recipinvgauss, rice, skewnorm
from .special_cases import (
    arcsine,
    erlang,
    gibrat,
    kappa3,
    levy,
    levy_l,
    mielke,
    rdist,
    semicircular,
    wald,
)
from .spread import (
    boxcox,
    boxcox_llf,
    circmean,
    circstd,
    circvar,
    describe,
    gstd,
    iqr,
    median_abs_deviation,
    trim_mean,
    yeojohnson,
    yeojohnson_llf,
    zmap,
)
from .trimmed import differential_entropy, kstat, tmean, tsem, tstd, tvar
from .truncated import truncnorm
from .variances import (
    bartlett,
    chi2_contingency,
    combine_pvalues,
    fligner,
    kurtosistest,
    levene,
    normaltest,
    skewtest,
)

__all__ = [
    "anglit", "arcsine", "bartlett", "bernoulli", "beta", "betabinom", "betanbinom", "betaprime",
    "binom", "boxcox", "boxcox_llf", "bradford", "burr", "burr12", "cauchy", "chi", "chi2",
    "chi2_contingency", "chisquare", "circmean", "circstd", "circvar", "combine_pvalues", "crystalball",
    "describe", "dgamma", "differential_entropy", "dirichlet", "dirichlet_multinomial", "dlaplace",
    "dweibull", "energy_distance", "entropy", "erlang", "expon", "exponnorm", "exponpow", "exponweib",
    "f", "f_oneway", "fatiguelife", "fisk", "fligner", "foldcauchy", "foldnorm", "friedmanchisquare",
    "gamma", "gaussian_kde", "genextreme", "gengamma", "genlogistic", "gennorm", "genpareto", "geom",
    "gibrat", "gmean", "gompertz", "gstd", "gumbel_l", "gumbel_r", "halfcauchy", "halfgennorm",
    "halflogistic", "halfnorm", "hmean", "hypergeom", "hypsecant", "invgamma", "invgauss", "invweibull",
    "invwishart", "iqr", "jarque_bera", "johnsonsb", "johnsonsu", "kappa3", "kendalltau", "kruskal",
    "ks_1samp", "ks_2samp", "kstat", "kstest", "kurtosis", "kurtosistest", "laplace",
    "laplace_asymmetric", "levene", "levy", "levy_l", "linregress", "loggamma", "logistic",
    "loglaplace", "lognorm", "logser", "loguniform", "lomax", "mannwhitneyu", "matrix_normal",
    "maxwell", "median_abs_deviation", "mielke", "mode", "moment", "moyal", "multinomial",
    "multivariate_normal", "multivariate_t", "nakagami", "nbinom", "ncx2", "norm", "normaltest",
    "norminvgauss", "pareto", "pearson3", "pearsonr", "planck", "pmean", "poisson",
    "power_divergence", "powerlaw", "powerlognorm", "powernorm", "randint", "rankdata", "ranksums",
    "rayleigh", "rdist", "recipinvgauss", "reciprocal", "rice", "sem", "semicircular", "skellam",
    "skew", "skewcauchy", "skewnorm", "skewtest", "spearmanr", "t", "tmean", "triang", "trim_mean",
    "truncexpon", "truncnorm", "truncpareto", "truncweibull_min", "tsem", "tstd", "ttest_1samp",
    "ttest_ind", "ttest_ind_from_stats", "ttest_rel", "tvar", "uniform", "variation", "vonmises",
    "vonmises_fisher", "wald", "wasserstein_distance", "weibull_max", "weibull_min", "wilcoxon",
    "wishart", "wrapcauchy", "yeojohnson", "yeojohnson_llf", "yulesimon", "zipf", "zmap", "zscore",
]  # fmt: skip
