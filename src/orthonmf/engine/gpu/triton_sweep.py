"""The fused kernels: what one program does with its rows.

A program reads a range of rows by tiles, from the first to the last, and writes to places of its
own: no atomic additions, so results are the same from run to run. Lengths of rows are constants of
the compiler, which then knows how wide loads may be; numbers of rows are not. What is optional
(weights, winners of rows) is None where it is not wanted, which the compiler knows too.

Matrix units cut off what does not fit when they read float32 and when they add up. So operands are
rounded first, or split into halves that fit, and every tile is summed by itself and then added.
"""

import os

import triton
import triton.language as tl

# An interpreter multiplies halves as integers, and cuts nothing off: there they are float32.
INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
HALF = tl.constexpr(tl.float32 if INTERPRETED else tl.bfloat16)
CUT = tl.constexpr(INTERPRETED)


@triton.jit
def round_off(x):
    """To 11 digits, nearest; the matrix unit cuts off the rest of the bits, an interpreter not."""
    bits = x.to(tl.int32, bitcast=True) + 4096
    if CUT:
        bits = bits & -8192
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def split(x):
    """The first 8 digits, and the next 8."""
    upper = x.to(tl.bfloat16).to(HALF)
    return upper, (x - upper.to(tl.float32)).to(tl.bfloat16).to(HALF)


@triton.jit
def cut_tile(x_ptr, n, M: tl.constexpr, ROWS: tl.constexpr):
    """The first row of the only tile of a program, all its rows, which are there, and where."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    return first, rows, rows < n - first, x_ptr + first * M


@triton.jit
def load_tile(base, rows, valid, columns, M: tl.constexpr):
    """Some columns of some of the rows (., M) at a place, with zeros around them."""
    inside = valid[:, None] & (columns < M)[None, :]
    return tl.load(base + rows[:, None] * M + columns[None, :], mask=inside, other=0.0)


@triton.jit
def load_all(direction_ptr, columns, numbers, M: tl.constexpr, K: tl.constexpr):
    """All directions (k, m) as columns, with zeros around them."""
    inside = (columns < M)[:, None] & (numbers < K)[None, :]
    places = numbers[None, :] * M + columns[:, None]
    return tl.load(direction_ptr + places, mask=inside, other=0.0)


@triton.jit
def multiply_halves(upper, lower, high, low):
    """Products of rows with directions, both given as halves."""
    return tl.dot(upper, high, tl.dot(lower, high, tl.dot(upper, low)))


@triton.jit
def multiply(x, high, low, HALVES: tl.constexpr, EXACT: tl.constexpr):
    """Products of a tile of rows with directions."""
    if EXACT:
        products = tl.dot(x, high, input_precision="tf32x3")
    elif HALVES:
        upper, lower = split(x)
        products = multiply_halves(upper, lower, high, low)
    else:
        products = tl.dot(round_off(x), high, input_precision="tf32")
    return products


@triton.jit
def find_best(products, numbers, K: tl.constexpr, KP: tl.constexpr):
    """The best direction of every row, the lowest of equals, and the product with it."""
    products = tl.where((numbers < K)[None, :], products, float("-inf"))
    best = tl.max(products, axis=1)
    return tl.min(tl.where(products == best[:, None], numbers[None, :], KP), axis=1), best


@triton.jit
def weigh(coefficients, weight_ptr, first, rows, valid):
    """Coefficients of rows times their weights, where there are any."""
    if weight_ptr is not None:
        weights = tl.load(weight_ptr + first + rows, mask=valid, other=0.0)
        coefficients = coefficients * weights.to(tl.float32)
    return coefficients


@triton.jit
def weigh_columns(x, weight_ptr, columns, M: tl.constexpr):
    """A tile times the weights of its columns, where there are any."""
    if weight_ptr is not None:
        weights = tl.load(weight_ptr + columns, mask=columns < M, other=0.0)
        x = x * weights[None, :]
    return x


@triton.jit
def sum_members(x, coefficients, members):
    """(k, columns) sums of coefficient times row over the members of every direction."""
    upper, lower = split(x * coefficients[:, None])
    indicators = tl.trans(members.to(HALF))  # 0 and 1 are exact
    return tl.dot(indicators, upper, tl.dot(indicators, lower))


@triton.jit
def sum_halves(upper, lower, factors):
    """(k, columns) sums of factors (rows, k) times rows, given as halves."""
    high, low = split(factors)
    low, high = tl.trans(low), tl.trans(high)
    return tl.dot(high, upper, tl.dot(high, lower, tl.dot(low, upper)))


@triton.jit
def store_winners(label_ptr, best_ptr, first, rows, valid, label, best):
    """Write the best directions of rows, and the products with them."""
    tl.store(label_ptr + first + rows, label, mask=valid)
    tl.store(best_ptr + first + rows, best, mask=valid)


@triton.jit
def sweep_slab(
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
    KP: tl.constexpr,
    MP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    SCALED: tl.constexpr,
):
    """Assign the rows of a slab and sum them, in one read: either, or both.

    All directions and columns at once assign. Without directions labels and coefficients are given,
    and columns may be some of many; without sums operands are rounded, not split.
    """
    first = tl.program_id(1).to(tl.int64) * slab
    count = tl.minimum(n - first, slab).to(tl.int32)
    columns, numbers = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS), tl.arange(0, KP)
    if direction_ptr is not None:
        directions = load_all(direction_ptr, columns, numbers, M, K)
        rounded = round_off(directions)
        high, low = split(directions)
    sums = tl.zeros((KP, COLUMNS), dtype=tl.float32)
    base = x_ptr + first * M
    for start in range(0, count, ROWS):
        rows = start + tl.arange(0, ROWS)
        valid = rows < count
        x = load_tile(base, rows, valid, columns, M)
        upper, lower = split(x)
        if direction_ptr is None:
            label = tl.load(label_ptr + first + rows, mask=valid, other=-1)
            best = tl.load(best_ptr + first + rows, mask=valid, other=0.0)
        else:
            if sums_ptr is None:
                products = tl.dot(round_off(x), rounded, input_precision="tf32")
            else:
                products = multiply_halves(upper, lower, high, low)
            label, best = find_best(products, numbers, K, KP)
            if label_ptr is not None:
                store_winners(label_ptr, best_ptr, first, rows, valid, label, best)
        if sums_ptr is not None:
            coefficients = weigh(best, weight_ptr, first, rows, valid)
            members = numbers[None, :] == label[:, None]
            if SCALED:
                sums += sum_halves(upper, lower, tl.where(members, coefficients[:, None], 0.0))
            else:
                sums += sum_members(x, coefficients, members)
    if sums_ptr is not None:
        out = sums_ptr + tl.program_id(1).to(tl.int64) * (KP * MP)
        tl.store(out + numbers[:, None] * MP + columns[None, :], sums)


@triton.jit
def assign_rows(
    x_ptr,
    high_ptr,
    low_ptr,
    label_ptr,
    best_ptr,
    n,
    unit,
    M: tl.constexpr,
    K: tl.constexpr,
    MP: tl.constexpr,
    KP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    HALVES: tl.constexpr,
    EXACT: tl.constexpr,
):
    """The best direction of every row of a tile: a product of which only the largest is kept.

    What is computed for a row depends on no other row.
    """
    first, rows, valid, base = cut_tile(x_ptr, n, M, ROWS)
    best = tl.full((ROWS,), float("-inf"), dtype=tl.float32)
    label = tl.zeros((ROWS,), dtype=tl.int32)
    for left in range(0, KP, WIDTH):
        numbers = left + tl.arange(0, WIDTH)
        products = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
        for start in range(0, M, COLUMNS):
            columns = start + tl.arange(0, COLUMNS)
            x = load_tile(base, rows, valid, columns, M)
            places = numbers[None, :] * MP + columns[:, None]
            high = tl.load(high_ptr + places)
            low = high
            if HALVES:
                low = tl.load(low_ptr + places)
            tile = multiply(x, high, low, HALVES, EXACT)
            # Times a number that the compiler does not know: it cannot let the matrix unit add up
            # over tiles, which cuts off digits, nor go on to the next one before this is done.
            products += tile * unit
        nearest, largest = find_best(products, numbers, K, KP)
        better = largest > best
        label = tl.where(better, nearest, label)
        best = tl.where(better, largest, best)
    store_winners(label_ptr, best_ptr, first, rows, valid, label, best)


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
        coefficients = weigh(coefficients, weight_ptr, 0, rows, valid)
        x = load_tile(x_ptr, rows, valid, columns, M)
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
):
    """Squares of rows in float64, the largest entry of a tile, and how many cannot be used."""
    first, rows, valid, base = cut_tile(x_ptr, n, M, ROWS)
    squares = tl.zeros((ROWS,), dtype=tl.float64)
    largest = tl.zeros((ROWS,), dtype=tl.float32)
    bad = tl.zeros((ROWS,), dtype=tl.int32)
    for start in range(0, M, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        x = load_tile(base, rows, valid, columns, M)
        good = (x >= 0.0) & (x < float("inf"))
        bad += tl.sum(tl.where(good, 0, 1), axis=1)
        largest = tl.maximum(largest, tl.max(tl.where(good, x, 0.0), axis=1))
        wide = x.to(tl.float64)
        terms = weigh_columns(wide * wide, weight_ptr, columns, M)
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
):
    """Squared distances of rows to the scaled components of their labels, in float64."""
    first, rows, valid, base = cut_tile(x_ptr, n, M, ROWS)
    label = tl.maximum(tl.load(label_ptr + first + rows, mask=valid, other=0), 0)
    scale = tl.load(scale_ptr + first + rows, mask=valid, other=0.0).to(tl.float64)
    squares = tl.zeros((ROWS,), dtype=tl.float64)
    for start in range(0, M, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        x = load_tile(base, rows, valid, columns, M)
        own = load_tile(component_ptr, label, valid, columns, M)
        difference = x.to(tl.float64) - scale[:, None] * own
        difference = weigh_columns(difference, factor_ptr, columns, M)
        squares += tl.sum(difference * difference, axis=1)
    tl.store(square_ptr + first + rows, squares, mask=valid)
