"""The source of printed functions, with placeholders that `printed.py` fills in.

A printed function does what `tape.record` does: run, make the result, make the node. Names that are
bound in every template are in `printed._GLOBALS`.
"""

RESULT = """\
    if z.__class__ is not ndarray:
        z = asarray(z)
    t = fresh()
    t._array = z
    t._view = None
    t._counter = c = [0]
"""

NODE = """\
    t._node = n = {node}()
    n.seq = next_number()
    n.ct = IDLE
    n.extras = None
    f = frame({depth})
    n.code = code = f.f_code
    n.offset = f.f_lasti
    if code is not user_code:
        if code.co_filename in OWN:
            n.code, n.offset = site()
        else:
            user_code = code
"""

PASS_ON = """\
    old = {edge}.ct
    {edge}.ct = r if old is None else old + r
"""

# The same for an `r` that was made here, so that it may be written into.
PASS_ON_NEW = """\
    old = {edge}.ct
    if old is not None:
        r += old
    {edge}.ct = r
"""

# The cotangent ``g.T @ x`` of a weight; a leaf that has got one before adds several at once.
PASS_ON_PRODUCT = """\
    old = {edge}.ct
    if old is None or {edge}.__class__ is not AccumulateGrad:
        r = dot(g.T, {factor})
        if old is not None:
            r += old
        {edge}.ct = r
    else:
        if old.__class__ is not Sum:
            old = Sum(old)
        {edge}.ct = old.also(n, g, "{factor}")
"""

UNARY = (
    """\
def {function}({parameters}):
    global user_code{check}
    try:
        {x} = input._array
    except AttributeError:
        return strange({arguments})
    dtype = {x}.dtype
    if {x}.__class__ is not ndarray or (dtype is not f32 and dtype is not f64){unusual}:
        return general({arguments})
    m = mode()
    if m is GRAD:
        e = input._node if input._view is None else edge(input)
    elif m is NO_GRAD:
        e = None
    else:
        return general({arguments})
    {forward}
"""
    + RESULT
    + """\
    if e is None:
        t._node = None
        return t
"""
    + NODE
    + """\
    n.left = e
    {save}
    return t


def {function}_pull(n, g, freed):
    {unpack}
    {rule}
    e = n.left
{pass_on}{free}"""
)

BINARY = (
    """\
def {function}({parameters}):
    global user_code{numbers}
    try:
        x = input._array
        y = other._array
    except AttributeError:
        return strange({arguments})
    dtype = x.dtype
    if x.__class__ is not ndarray or y.__class__ is not ndarray or y.dtype is not dtype{unusual}:
        return general({arguments})
    m = mode()
    if (dtype is not f32 and dtype is not f64) or (m is not GRAD and m is not NO_GRAD):
        return general({arguments})
    try:
        {forward}
    except ValueError:
        return general({arguments})
"""
    + RESULT
    + """\
    if m is NO_GRAD:
        t._node = None
        return t
    ex = input._node if input._view is None else edge(input)
    ey = other._node if other._view is None else edge(other)
    if ex is None and ey is None:
        t._node = None
        return t
"""
    + NODE
    + """\
    n.left = ex
    n.right = ey
    {save}
    shape = x.shape
    n.shapes = {shapes}
    return t


def {function}_pull(n, g, freed):
    {unpack}
    ex = n.left
    ey = n.right
    shapes = n.shapes
    {rules}
{free}"""
)

TOTAL = (
    """\
def {function}(input, *args, **kwargs):
    global user_code
    try:
        x = input._array
    except AttributeError:
        return strange(input, *args, **kwargs)
    found = x.dtype
    m = mode()
    if (
        x.__class__ is not ndarray
        or (found is not f32 and found is not f64)
        or args
        or kwargs
        or not x.size
        or (m is not GRAD and m is not NO_GRAD)
    ):
        return general(input, *args, **kwargs)
    length = x.size
    {forward}
"""
    + RESULT
    + """\
    e = input._node if input._view is None else edge(input)
    if e is None or m is NO_GRAD:
        t._node = None
        return t
"""
    + NODE
    + """\
    n.left = e
    n.saved = NOTHING
    n.shape = x.shape
    n.length = length
    n.dtype = found
    return t


def {function}_pull(n, g, freed):
    shape = n.shape
    length = n.length
    {rule}
    e = n.left
    old = e.ct
    e.ct = r if old is None else old + r
"""
)

# Of a result or operand that a node of two operands may save.
UNPACK = """\
{name} = n.{name}
if n.{name}_counter[0] != n.{name}_version and {name} is not None and n.saved is None:
    require_unwritten(n, Saved({name}, n.{name}_counter, n.{name}_version, {is_ans}))
"""

# What a function of a tensor and a number starts with where the latter may be anything else.
CHECK_NUMBER = """
    cls = other.__class__
    if cls is not float and cls is not int:
        return strange(input, other)"""

BIND_NUMBER = """\
number = other
other = (numbers_64 if dtype is f64 else numbers_32).get(number)
if other is None:
    other = number_array(number, dtype)
"""

UNPACK_ONE = """\
{name} = n.saved
if n.counter[0] != n.version and {name}.__class__ is not Freed:
    require_unwritten(n, Saved({name}, n.counter, n.version, {is_ans}))
"""

# Around a rule that reads `n.saved`, which a freed one does not survive.
GUARDED = """\
try:
    {rule}
except (TypeError, AttributeError):
    if n.saved.__class__ is Freed:
        raise second_backward(n) from None
    raise
"""

FREE = """\
    if freed is not None:
        {names} = freed
"""

# For an operation whose two rules are the same when its operands are: once, and doubled.
TWICE = """\
if ex is ey and x is y:
    {rule}
    r += r
    old = ex.ct
    if old is not None:
        r += old
    ex.ct = r
    ex = ey = None
"""

RULES = """\
if ex is not None:
    {pull_x}
if ey is not None:
    {pull_y}
"""

# What `BINARY` starts with where the second operand may be a number.
NUMBERS = """
    cls = other.__class__
    if cls is float or cls is int:
        return with_number(input, other){or_general}"""

# x op= y with nothing recorded: without gradients, or of tensors that have none.
IN_PLACE = """\
def {function}({parameters}):
    try:
        x = input._array
        counter = input._counter
        dtype = x.dtype
        m = mode()
        if m is not NO_GRAD and (m is not GRAD or input._node is not None or input._view is not None):
            return general({arguments})
    except AttributeError:
        return strange({arguments})
    if x.__class__ is not ndarray or (dtype is not f32 and dtype is not f64){unusual}:
        return general({arguments})
    cls = other.__class__
    if cls is float or cls is int:
        y = (numbers_64 if dtype is f64 else numbers_32).get(other)
        if y is None:
            y = number_array(other, dtype)
    elif cls is Tensor:
        y = other._array
        if y.__class__ is not ndarray or y.dtype is not dtype:
            return general({arguments})
        if m is GRAD and (other._node is not None or other._view is not None):
            return general({arguments})
    else:
        return strange({arguments})
    # An array that is no view cannot overlap itself, nor can one without gaps.
    if (x.base is not None and not x.flags.c_contiguous) or counter is UNCOUNTED:
        return general({arguments})
    try:
        {ufunc}(x, y, x)
    except ValueError:
        return general({arguments})
    f = frame(1)
    code = f.f_code
    place = site() if code.co_filename in OWN else (code, f.f_lasti)
    counter[:] = (counter[0] + 1, "{function}", place)
    return input
"""

# A function of several primitives with up to three operands; the node keeps its edges in `next`.
COMPOSITE = (
    """\
def {function}({parameters}):
    global user_code
    try:
        {arrays}
    except AttributeError:
        return strange({arguments})
    dtype = {first}.dtype
    m = mode()
    if (
        (dtype is not f32 and dtype is not f64)
        or (m is not GRAD and m is not NO_GRAD)
        or {unusual}
    ):
        return general({arguments}){length}
    try:
        {forward}
    except ValueError:
        return general({arguments})
"""
    + RESULT
    + """\
    if m is NO_GRAD:
        t._node = None
        return t
    {edges}
    if {no_edges}:
        t._node = None
        return t
"""
    + NODE
    + """\
    n.next = ({all_edges})
    n.shapes = ({shapes})
    n.saved = None{keep_length}
    {save}
    return t


def {function}_pull(n, g, freed):
    {unpack}
    {all_edges} = n.next
    shapes = n.shapes{length_again}
    try:
        {rules}
    except (TypeError, AttributeError):
        if n.saved.__class__ is Freed:
            raise second_backward(n) from None
        raise
    if freed is not None:
        {names} = freed
"""
)
