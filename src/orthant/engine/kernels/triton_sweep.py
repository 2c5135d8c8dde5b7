"""The fused kernels: what one program does with its rows.

A program reads a range of rows by tiles, from the first to the last, and writes to places of its
own: no atomic additions, so results are the same from run to run. Lengths of rows are constants of
the compiler, which then knows how wide loads may be; numbers of rows are not.

Matrix units cut off what does not fit when they read float32 and when they add up. So operands are
rounded first, or split into halves that fit, and every tile is summed by itself and then added.
"""

import triton
import triton.language as tl


@triton.jit
def round_off(x, CUT: tl.constexpr):
    """To 11 digits, nearest; the matrix unit cuts off the rest of the bits, an interpreter not."""
    bits = x.to(tl.int32, bitcast=True) + 4096
    if CUT:
        bits = bits & -8192
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def upper_half(x, HALF: tl.constexpr):
    """The first 8 digits."""
    return x.to(tl.bfloat16).to(HALF)


@triton.jit
def lower_half(x, upper, HALF: tl.constexpr):
    """The next 8 digits."""
    return (x - upper.to(tl.float32)).to(tl.bfloat16).to(HALF)


@triton.jit
def load_all(direction_ptr, columns, numbers, M: tl.constexpr, K: tl.constexpr):
    """All directions (k, m) as columns, with zeros around them."""
    inside = (columns < M)[:, None] & (numbers < K)[None, :]
    places = numbers[None, :] * M + columns[:, None]
    return tl.load(direction_ptr + places, mask=inside, other=0.0)


@triton.jit
def multiply(
    x,
    high,
    low,
    products,
    HALVES: tl.constexpr,
    EXACT: tl.constexpr,
    HALF: tl.constexpr,
    CUT: tl.constexpr,
):
    """Add the products of a tile of rows with directions to those there are."""
    if EXACT:
        products = tl.dot(x, high, products, input_precision="tf32x3")
    elif HALVES:
        upper = upper_half(x, HALF)
        lower = lower_half(x, upper, HALF)
        products = tl.dot(upper, low, products)
        products = tl.dot(lower, high, products)
        products = tl.dot(upper, high, products)
    else:
        products = tl.dot(round_off(x, CUT), high, products, input_precision="tf32")
    return products


@triton.jit
def sum_members(x, coefficients, members, HALF: tl.constexpr):
    """(k, columns) sums of coefficient times row over the members of every direction."""
    weighted = x * coefficients[:, None]
    upper = upper_half(weighted, HALF)
    lower = lower_half(weighted, upper, HALF)
    indicators = tl.trans(members.to(HALF))  # 0 and 1 are exact
    return tl.dot(indicators, upper, tl.dot(indicators, lower))


@triton.jit
def sum_halves(upper, lower, factors, HALF: tl.constexpr):
    """(k, columns) sums of factors (rows, k) times rows, given as halves."""
    high = upper_half(factors, HALF)
    low = tl.trans(lower_half(factors, high, HALF))
    high = tl.trans(high)
    return tl.dot(high, upper, tl.dot(high, lower, tl.dot(low, upper)))


@triton.jit
def fused_sweep(
    x_ptr,
    direction_ptr,
    weight_ptr,
    sums_ptr,
    label_ptr,
    best_ptr,
    n,
    slab,
    M: tl.constexpr,
    K: tl.constexpr,
    MP: tl.constexpr,
    KP: tl.constexpr,
    ROWS: tl.constexpr,
    WEIGHTED: tl.constexpr,
    BY_ROW: tl.constexpr,
    HALF: tl.constexpr,
    SCALED: tl.constexpr,
):
    """Assign the rows of a slab and sum them, in one read; all directions and columns at once."""
    first = tl.program_id(0).to(tl.int64) * slab
    count = tl.minimum(n - first, slab).to(tl.int32)
    columns, numbers = tl.arange(0, MP), tl.arange(0, KP)
    directions = load_all(direction_ptr, columns, numbers, M, K)
    high = upper_half(directions, HALF)
    low = lower_half(directions, high, HALF)
    sums = tl.zeros((KP, MP), dtype=tl.float32)
    base = x_ptr + first * M
    for start in range(0, count, ROWS):
        rows = start + tl.arange(0, ROWS)
        valid = rows < count
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        upper = upper_half(x, HALF)
        lower = lower_half(x, upper, HALF)
        products = tl.dot(upper, low)
        products = tl.dot(lower, high, products)
        products = tl.dot(upper, high, products)
        products = tl.where((numbers < K)[None, :], products, float("-inf"))
        best = tl.max(products, axis=1)
        # The lowest of equals.
        label = tl.min(tl.where(products == best[:, None], numbers[None, :], KP), axis=1)
        coefficients = best
        if WEIGHTED:
            weights = tl.load(weight_ptr + first + rows, mask=valid, other=0.0)
            coefficients = best * weights.to(tl.float32)
        members = numbers[None, :] == label[:, None]
        if SCALED:
            sums += sum_halves(upper, lower, tl.where(members, coefficients[:, None], 0.0), HALF)
        else:
            sums += sum_members(x, coefficients, members, HALF)
        if BY_ROW:
            tl.store(label_ptr + first + rows, label, mask=valid)
            tl.store(best_ptr + first + rows, best, mask=valid)
    out = sums_ptr + tl.program_id(0).to(tl.int64) * (KP * MP)
    tl.store(out + numbers[:, None] * MP + columns[None, :], sums)


@triton.jit
def assign_rows(
    x_ptr,
    high_ptr,
    low_ptr,
    label_ptr,
    best_ptr,
    n,
    one,
    M: tl.constexpr,
    K: tl.constexpr,
    MP: tl.constexpr,
    KP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    HALVES: tl.constexpr,
    EXACT: tl.constexpr,
    HALF: tl.constexpr,
    CUT: tl.constexpr,
):
    """The best direction of every row of a tile: a product of which only the largest is kept.

    What is computed for a row depends on no other row.
    """
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    valid = rows < n - first
    base = x_ptr + first * M
    best = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    label = tl.zeros((ROWS,), dtype=tl.int32)
    for left in range(0, KP, WIDTH):
        numbers = left + tl.arange(0, WIDTH)
        products = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
        for start in range(0, M, COLUMNS):
            columns = start + tl.arange(0, COLUMNS)
            inside = valid[:, None] & (columns < M)[None, :]
            x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
            places = numbers[None, :] * MP + columns[:, None]
            high = tl.load(high_ptr + places)
            low = high
            if HALVES:
                low = tl.load(low_ptr + places)
            tile = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
            tile = multiply(x, high, low, tile, HALVES, EXACT, HALF, CUT)
            # Times a number that the compiler does not know: it cannot let the matrix unit add up
            # over tiles, which cuts off digits, nor go on to the next one before this is done.
            products += tile * one
        products = tl.where((numbers < K)[None, :], products, float("-inf"))
        largest = tl.max(products, axis=1)
        found = tl.min(tl.where(products == largest[:, None], numbers[None, :], KP), axis=1)
        better = largest > best
        label = tl.where(better, found, label)
        best = tl.where(better, largest, best)
    tl.store(label_ptr + first + rows, label, mask=valid)
    tl.store(best_ptr + first + rows, best, mask=valid)


@triton.jit
def assign_short_rows(
    x_ptr,
    direction_ptr,
    label_ptr,
    best_ptr,
    n,
    slab,
    M: tl.constexpr,
    K: tl.constexpr,
    MP: tl.constexpr,
    KP: tl.constexpr,
    ROWS: tl.constexpr,
    CUT: tl.constexpr,
):
    """The best direction of every row of a slab; all directions and columns at once, read once."""
    first = tl.program_id(0).to(tl.int64) * slab
    count = tl.minimum(n - first, slab).to(tl.int32)
    columns, numbers = tl.arange(0, MP), tl.arange(0, KP)
    high = round_off(load_all(direction_ptr, columns, numbers, M, K), CUT)
    base = x_ptr + first * M
    for start in range(0, count, ROWS):
        rows = start + tl.arange(0, ROWS)
        valid = rows < count
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        products = tl.dot(round_off(x, CUT), high, input_precision="tf32")
        products = tl.where((numbers < K)[None, :], products, float("-inf"))
        best = tl.max(products, axis=1)
        label = tl.min(tl.where(products == best[:, None], numbers[None, :], KP), axis=1)
        tl.store(label_ptr + first + rows, label, mask=valid)
        tl.store(best_ptr + first + rows, best, mask=valid)


@triton.jit
def indicated_sums(
    x_ptr,
    label_ptr,
    coefficient_ptr,
    weight_ptr,
    sums_ptr,
    n,
    slab,
    M: tl.constexpr,
    MP: tl.constexpr,
    KP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WEIGHTED: tl.constexpr,
    HALF: tl.constexpr,
):
    """Sums of the rows of a slab by their labels, some columns of it."""
    first = tl.program_id(1).to(tl.int64) * slab
    count = tl.minimum(n - first, slab).to(tl.int32)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    numbers = tl.arange(0, KP)
    sums = tl.zeros((KP, COLUMNS), dtype=tl.float32)
    base = x_ptr + first * M
    for start in range(0, count, ROWS):
        rows = start + tl.arange(0, ROWS)
        valid = rows < count
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        label = tl.load(label_ptr + first + rows, mask=valid, other=-1)
        coefficients = tl.load(coefficient_ptr + first + rows, mask=valid, other=0.0)
        if WEIGHTED:
            weights = tl.load(weight_ptr + first + rows, mask=valid, other=0.0)
            coefficients = coefficients * weights.to(tl.float32)
        sums += sum_members(x, coefficients, numbers[None, :] == label[:, None], HALF)
    out = sums_ptr + tl.program_id(1).to(tl.int64) * (KP * MP)
    tl.store(out + numbers[:, None] * MP + columns[None, :], sums)


@triton.jit
def sorted_sums(
    x_ptr,
    order_ptr,
    coefficient_ptr,
    weight_ptr,
    start_ptr,
    stop_ptr,
    sums_ptr,
    M: tl.constexpr,
    MP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """The sum of some rows of one label, gathered from where they lie."""
    chunk = tl.program_id(1).to(tl.int64)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    start, stop = tl.load(start_ptr + chunk), tl.load(stop_ptr + chunk)
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for number in range(start, stop, ROWS):
        places = number + tl.arange(0, ROWS)
        valid = places < stop
        rows = tl.load(order_ptr + places, mask=valid, other=0)
        coefficients = tl.load(coefficient_ptr + rows, mask=valid, other=0.0)
        if WEIGHTED:
            coefficients *= tl.load(weight_ptr + rows, mask=valid, other=0.0).to(tl.float32)
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(x_ptr + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        sums += x * coefficients[:, None]
    tl.store(sums_ptr + chunk * MP + columns, tl.sum(sums, axis=0))


@triton.jit
def look_at_rows(
    x_ptr,
    weight_ptr,
    square_ptr,
    largest_ptr,
    bad_ptr,
    n,
    M: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Squares of rows in float64, the largest entry of a tile, and how many cannot be used."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    valid = rows < n - first
    base = x_ptr + first * M
    squares = tl.zeros((ROWS,), dtype=tl.float64)
    largest = tl.zeros((ROWS,), dtype=tl.float32)
    bad = tl.zeros((ROWS,), dtype=tl.int32)
    for start in range(0, M, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        good = (x >= 0.0) & (x < float("inf"))
        bad += tl.sum(tl.where(good, 0, 1), axis=1)
        largest = tl.maximum(largest, tl.max(tl.where(good, x, 0.0), axis=1))
        wide = x.to(tl.float64)
        terms = wide * wide
        if WEIGHTED:
            weights = tl.load(weight_ptr + columns, mask=columns < M, other=0.0)
            terms = terms * weights[None, :]
        squares += tl.sum(terms, axis=1)
    tl.store(square_ptr + first + rows, squares, mask=valid)
    tl.store(largest_ptr + tl.program_id(0), tl.max(largest, axis=0))
    tl.store(bad_ptr + tl.program_id(0), tl.sum(bad, axis=0))


@triton.jit
def square_residuals(
    x_ptr,
    label_ptr,
    scale_ptr,
    component_ptr,
    factor_ptr,
    square_ptr,
    n,
    M: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Squared distances of rows to the scaled components of their labels, in float64."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    valid = rows < n - first
    base = x_ptr + first * M
    label = tl.maximum(tl.load(label_ptr + first + rows, mask=valid, other=0), 0)
    scale = tl.load(scale_ptr + first + rows, mask=valid, other=0.0).to(tl.float64)
    squares = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, M, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        inside = valid[:, None] & (columns < M)[None, :]
        x = tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)
        own = tl.load(component_ptr + label[:, None] * M + columns[None, :], mask=inside, other=0.0)
        difference = x.to(tl.float64) - scale[:, None] * own
        if WEIGHTED:
            factors = tl.load(factor_ptr + columns, mask=columns < M, other=0.0)
            difference = difference * factors[None, :]
        squares += tl.sum(difference * difference, axis=1)
    tl.store(square_ptr + first + rows, squares, mask=valid)
