//! Linear algebra. `xᴴ` is the adjoint, `xᵀ` the transpose without a conjugation.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::BandedTriangularSolve => Rule(banded_solution),
        Op::Cholesky => Rule(|g| {
            let (l, d) = (g.y(0), g.d());
            let inverse = l.bin(Op::MatrixTriangularSolve, eye(l));
            let middle = l.matmul(d, true, false);
            let diagonal = middle.un(Op::MatrixDiagPart) * 0.5;
            let middle = lower(middle.bin(Op::MatrixSetDiag, diagonal));
            let half = inverse.matmul(middle, true, false).matmul(inverse, false, false);
            g.dx(0, (half + half.adjoint()) * 0.5);
        }),
        Op::Cross => Rule(|g| {
            g.dx(0, g.x(1).bin(Op::Cross, g.d()));
            g.dx(1, g.d().bin(Op::Cross, g.x(0)));
        }),
        Op::Eig => Rule(any_eigen),
        Op::LogMatrixDeterminant => Rule(|g| {
            let Some(d) = g.dy(1) else { return };
            g.dx(0, d.expand(-1).expand(-1) * adjoint_inverse(g.x(0)));
        }),
        Op::Lu => Rule(lu),
        Op::MatrixDeterminant => Rule(|g| {
            g.dx(0, (g.d() * g.y(0).conj()).expand(-1).expand(-1) * adjoint_inverse(g.x(0)));
        }),
        Op::MatrixInverse => Rule(|g| {
            let (y, adjoint) = (g.y(0), g.flag("adjoint"));
            let right = g.d().matmul(y, adjoint, !adjoint);
            g.dx(0, -y.matmul(right, !adjoint, false));
        }),
        Op::MatrixSolve => Rule(|g| solution(g, Op::MatrixSolve, None)),
        Op::MatrixSolveLs => Rule(least_squares),
        Op::MatrixSquareRoot => Rule(square_root),
        Op::MatrixTriangularSolve => {
            Rule(|g| solution(g, Op::MatrixTriangularSolve, Some(g.bool("lower").unwrap_or(true))))
        }
        Op::Qr => Rule(qr),
        Op::SelfAdjointEigV2 => Rule(eigen),
        Op::Svd => Rule(svd),
        Op::TridiagonalMatMul => Rule(|g| {
            let (d, right) = (g.d(), g.x(3).conj());
            for (i, factor) in [(0, moved(right, Toward::Up)), (1, right), (2, moved(right, Toward::Down))] {
                if g.wants(i) {
                    g.dx(i, row_sums(factor, d));
                }
            }
            if g.wants(3) {
                let [above, main, below] = [0, 1, 2].map(|i| g.x(i).adjoint() * d);
                g.dx(3, moved(above, Toward::Down) + main + moved(below, Toward::Up));
            }
        }),
        Op::TridiagonalSolve => Rule(|g| {
            let (diagonals, x) = (g.x(0), g.y(0));
            let [above, main, below] = [0, 1, 2].map(|i| part(diagonals, (i, i + 1), (0, 0)));
            let turned = Val::concat(&[moved(below, Toward::Left), main, moved(above, Toward::Right)], -2);
            let d = g.same(Op::TridiagonalSolve, &[turned, g.d()]);
            if g.wants(0) {
                let parts = [moved(x, Toward::Up), x, moved(x, Toward::Down)].map(|x| row_sums(x, d));
                g.dx(0, -Val::concat(&parts, -2));
            }
            g.dx(1, d);
        }),
        _ => return None,
    })
}

/// With `X = P L U`: `dX = P L⁻ᴴ (strict lower part of Lᴴ dL + upper part of dU Uᴴ) U⁻ᴴ`.
fn lu(g: &Vjp<'_, '_>) {
    let (factors, d) = (g.y(0), g.d());
    let (unit, upper) = (eye(factors), band(factors, 0, -1));
    let strictly_lower = lower(factors).bin(Op::MatrixSetDiag, factors.un(Op::MatrixDiagPart).zeros());
    let low = strictly_lower + unit;
    let strict = lower(d).bin(Op::MatrixSetDiag, d.un(Op::MatrixDiagPart).zeros());
    let of_low = lower(low.matmul(strict, true, false));
    let of_low = of_low.bin(Op::MatrixSetDiag, of_low.un(Op::MatrixDiagPart).zeros());
    let middle = of_low + band(band(d, 0, -1).matmul(upper, false, true), 0, -1);
    let solve = |of: Val<'_>, right: Val<'_>, is_lower: bool, is_adjoint: bool| {
        let attrs = [("lower", At::Bool(is_lower)), ("adjoint", At::Bool(is_adjoint))];
        g.op(Op::MatrixTriangularSolve, &[of, right], &attrs)
    };
    let left = solve(low, middle, true, true);
    let turned = solve(upper, left.adjoint(), false, false).adjoint();
    let order = g.y(1);
    let one = turned.number(1.0);
    let rows = g.op(Op::OneHot, &[order, factors.size(-1), one, turned.number(0.0)], &[]);
    g.dx(0, rows.matmul(turned, true, false));
}

/// Identity matrices in the shape of others.
fn eye(x: Val<'_>) -> Val<'_> {
    let zeros = x.zeros();
    zeros.bin(Op::MatrixSetDiag, x.un(Op::MatrixDiagPart).ones())
}

fn band(x: Val<'_>, below: i64, above: i64) -> Val<'_> {
    x.op(Op::MatrixBandPart, &[x, x.int(below), x.int(above)], &[])
}

/// The lower triangle.
fn lower(x: Val<'_>) -> Val<'_> {
    band(x, -1, 0)
}

fn adjoint_inverse(x: Val<'_>) -> Val<'_> {
    x.op(Op::MatrixInverse, &[x], &[("adjoint", At::Bool(true))])
}

/// The gradient of the solution of a system; of a triangular one only in its triangle.
fn solution(g: &Vjp<'_, '_>, op: Op, is_lower: Option<bool>) {
    let (a, x, adjoint) = (g.x(0), g.y(0), g.flag("adjoint"));
    let d = g.same_but(op, &[a, g.d()], &[("adjoint", At::Bool(!adjoint))]);
    if g.wants(0) {
        let product = if adjoint { x.matmul(d, false, true) } else { d.matmul(x, false, true) };
        let da = match is_lower {
            None => -product,
            Some(true) => lower(-product),
            Some(false) => band(-product, 0, -1),
        };
        g.dx_sum(0, da);
    }
    g.dx_sum(1, d);
}

fn banded_solution(g: &Vjp<'_, '_>) {
    let (a, x, adjoint) = (g.x(0), g.y(0), g.flag("adjoint"));
    let d = g.same_but(Op::BandedTriangularSolve, &[a, g.d()], &[("adjoint", At::Bool(!adjoint))]);
    if g.wants(0) {
        let product = if adjoint { x.matmul(d, false, true) } else { d.matmul(x, false, true) };
        let (last, zero) = (a.size(-2) - a.int(1), a.int(0));
        let ends = if matches!(g.bool("lower"), Some(false)) { [zero, last] } else { [-last, zero] };
        let bands = Val::concat(&ends.map(|end| end.expand(0)), 0);
        let attrs = [("align", At::Str("LEFT_RIGHT"))];
        g.dx_sum(0, g.op(Op::MatrixDiagPartV3, &[-product, bands, product.number(0.0)], &attrs));
    }
    g.dx_sum(1, d);
}

/// The gradient of the solution of normal equations.
fn least_squares(g: &Vjp<'_, '_>) {
    let (a, b, x, d) = (g.x(0), g.x(1), g.y(0), g.d());
    if matches!(g.bool("fast"), Some(false)) {
        return g.refuse("there is no gradient unless `fast` is true");
    }
    let sizes = a.sizes().unwrap_or_default();
    let &[.., rows, columns] = &sizes[..] else { return g.refuse("the number of rows is not known") };
    if rows < 0 || columns < 0 {
        return g.refuse("the numbers of rows and columns are not known");
    }
    let is_high = rows >= columns;
    let gramian = a.matmul(a, is_high, !is_high);
    let root = (gramian + eye(gramian) * g.x(2).cast_like(a)).un(Op::Cholesky);
    let solve = |right: Val<'_>| {
        let half = root.bin(Op::MatrixTriangularSolve, right);
        g.op(Op::MatrixTriangularSolve, &[root, half], &[("adjoint", At::Bool(true))])
    };
    if is_high {
        let z = solve(d);
        let product = x.matmul(z, false, true);
        let both = product + product.adjoint().conj();
        g.dx(0, b.matmul(z, false, true) - a.matmul(both, false, false));
        g.dx(1, a.matmul(z, false, false));
    } else {
        let db = solve(a.matmul(d, false, false));
        if g.wants(0) {
            let solved = solve(b);
            let rest = d - a.matmul(db, true, false);
            g.dx(
                0,
                solved.matmul(rest, false, true) - db.matmul(solved.matmul(a, true, false), false, false),
            );
        }
        g.dx(1, db);
    }
}

/// With `R R = A`: the solution `X` of `Rᵀ X + X Rᵀ = D`, as a system for all elements of `X`.
fn square_root(g: &Vjp<'_, '_>) {
    let (root, d) = (g.y(0), g.d());
    let unit = eye(root);
    let outer =
        |equation: &str, a: Val<'_>| g.op(Op::Einsum, &[a, unit], &[("equation", At::Str(equation))]).id;
    let left = outer("...ki,...jl->...ijkl", root);
    let right = outer("...jl,...ik->...ijkl", root);
    let n = root.size(-1);
    let square = (n * n).expand(0);
    let batch = {
        let shape = root.shape();
        let n_batch = root.rank_value() - root.int(2);
        shape.slice(root.ints(&[0], DType::I32), n_batch.expand(0))
    };
    let system = root.with(left) + root.with(right);
    let system = system.reshape(Val::concat(&[batch, square, square], 0));
    let one = root.int(1).expand(0);
    let column = d.reshape(Val::concat(&[batch, square, one], 0));
    g.dx(0, system.bin(Op::MatrixSolve, column).reshape_like(root));
}

/// The gradient of eigenvalues and eigenvectors of norm 1 of matrices with different eigenvalues.
fn any_eigen(g: &Vjp<'_, '_>) {
    let (e, v) = if matches!(g.bool("compute_v"), Some(false)) {
        let attrs = g.common(Op::Eig, &[("compute_v", At::Bool(true))]);
        let made = g.ops(Op::Eig, &[g.x(0)], &attrs, 2);
        (made[0], made[1])
    } else {
        (g.y(0), g.y(1))
    };
    let of_values = g.dy(0).map(|d| d.un(Op::MatrixDiag));
    let of_vectors = vectors(g, "compute_v", 1).map(|d| {
        let gaps = safe_reciprocal(e.expand(-2) - e.expand(-1));
        let gaps = gaps.bin(Op::MatrixSetDiag, e.zeros()).conj();
        let inner = v.matmul(d, true, false);
        let lengths = inner.un(Op::MatrixDiagPart).part(Op::Real).as_complex().un(Op::MatrixDiag);
        gaps * (inner - v.matmul(v, true, false).matmul(lengths, false, false))
    });
    let inner = match (of_values, of_vectors) {
        (Some(a), Some(b)) => a + b,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return,
    };
    let d = v.adjoint().bin(Op::MatrixSolve, inner.matmul(v, false, true));
    g.dx(0, if g.x(0).is_complex() { d } else { d.part(Op::Real) });
}

/// The sums of the products in each row of two matrices, as a matrix of one row.
fn row_sums<'g>(x: Val<'g>, y: Val<'g>) -> Val<'g> {
    (x * y).sum(x.int(-1), false).expand(-2)
}

/// The elements of matrices in these rows and columns; an end of 0 is the last row or column.
fn part(x: Val<'_>, rows: (i64, i64), columns: (i64, i64)) -> Val<'_> {
    // The axes before the matrices are the ellipsis.
    let at = |first: i64, second: i64| x.ints(&[0, first, second], DType::I32);
    let is_open = |(_, end): (i64, i64), bit: i64| if end == 0 { bit } else { 0 };
    let masks =
        [("ellipsis_mask", At::Int(1)), ("end_mask", At::Int(is_open(rows, 2) | is_open(columns, 4)))];
    x.op(Op::StridedSlice, &[x, at(rows.0, columns.0), at(rows.1, columns.1), at(1, 1)], &masks)
}

/// A direction in matrices.
#[derive(Clone, Copy)]
enum Toward {
    Up,
    Down,
    Left,
    Right,
}

/// Matrices whose elements are moved by one row or column, with zeros in the other end.
fn moved(x: Val<'_>, to: Toward) -> Val<'_> {
    let zeros = |rows, columns| part(x, rows, columns).zeros();
    match to {
        Toward::Up => Val::concat(&[part(x, (1, 0), (0, 0)), zeros((0, 1), (0, 0))], -2),
        Toward::Down => Val::concat(&[zeros((0, 1), (0, 0)), part(x, (0, -1), (0, 0))], -2),
        Toward::Left => Val::concat(&[part(x, (0, 0), (1, 0)), zeros((0, 0), (0, 1))], -1),
        Toward::Right => Val::concat(&[zeros((0, 0), (0, 1)), part(x, (0, 0), (0, -1))], -1),
    }
}

/// x r⁻ᴴ for an upper triangular r.
fn by_inverse<'g>(x: Val<'g>, r: Val<'g>) -> Val<'g> {
    r.op(Op::MatrixTriangularSolve, &[r, x.adjoint()], &[("lower", At::Bool(false))]).adjoint()
}

/// The gradient of the QR decomposition of matrices with at least as many rows as columns.
fn deep<'g>(q: Val<'g>, r: Val<'g>, dq: Val<'g>, dr: Val<'g>) -> Val<'g> {
    let (qdq, rdr) = (q.matmul(dq, true, false), r.matmul(dr, false, true));
    let skew = lower(qdq - qdq.adjoint() + (rdr - rdr.adjoint()));
    // The diagonal of a skew-Hermitian matrix is imaginary.
    let of_r = q.matmul(dr + by_inverse(skew, r), false, false);
    let found = of_r + by_inverse(dq - q.matmul(qdq, false, false), r);
    if !q.is_complex() {
        return found;
    }
    let m = rdr - qdq.adjoint();
    let diagonal = m.zeros().bin(Op::MatrixSetDiag, m.un(Op::MatrixDiagPart));
    let correction = diagonal - diagonal.part(Op::Real).as_complex();
    found + by_inverse(q.matmul(correction.adjoint(), false, false), r)
}

fn qr(g: &Vjp<'_, '_>) {
    let (a, q, r) = (g.x(0), g.y(0), g.y(1));
    let (dq, dr) = (g.dy(0).unwrap_or_else(|| q.zeros()), g.dy(1).unwrap_or_else(|| r.zeros()));
    let sizes = a.sizes().unwrap_or_default();
    let &[.., rows, columns] = &sizes[..] else { return g.refuse("the number of rows is not known") };
    if rows < 0 || columns < 0 {
        return g.refuse("the numbers of rows and columns are not known");
    }
    if g.flag("full_matrices") && rows > columns {
        return g.refuse("there is no gradient of full matrices that are higher than wide");
    }
    if rows >= columns {
        return g.dx(0, deep(q, r, dq, dr));
    }
    // a = q [u v]: the columns after the square part depend on q only.
    let rank = sizes.len();
    let columns_of = |x: Val<'_>, from: i64, n: i64| {
        let (mut begin, mut size) = (vec![0; rank], vec![-1; rank]);
        (begin[rank - 1], size[rank - 1]) = (from, n);
        a.with(x.id).slice(g.ints_value(&begin), g.ints_value(&size))
    };
    let y = columns_of(a, rows, columns - rows);
    let (u, dv, du) = (columns_of(r, 0, rows), columns_of(dr, rows, columns - rows), columns_of(dr, 0, rows));
    let dx = deep(q, u, dq + y.matmul(dv, false, true), du);
    g.dx(0, Val::concat(&[dx, q.matmul(dv, false, false)], -1));
}

/// The gradient of result `i`, which is empty if the attribute asks for no vectors.
fn vectors<'g>(g: &'g Vjp<'_, '_>, attr: &str, i: usize) -> Option<Val<'g>> {
    g.dy(i).filter(|_| g.bool(attr) != Some(false))
}

/// 1 / x, and nearly 0 at 0.
fn safe_reciprocal(x: Val<'_>) -> Val<'_> {
    x / (x.un(Op::Square) + 1e-20)
}

fn eigen(g: &Vjp<'_, '_>) {
    let (e, v) = if matches!(g.bool("compute_v"), Some(false)) {
        let made = g.ops(Op::SelfAdjointEigV2, &[g.x(0)], &[("compute_v", At::Bool(true))], 2);
        (made[0], made[1])
    } else {
        (g.y(0), g.y(1))
    };
    let of_values = g.dy(0).map(|d| d.cast_like(v).un(Op::MatrixDiag));
    let of_vectors = vectors(g, "compute_v", 1).map(|d| {
        let gaps = safe_reciprocal(e.expand(-2) - e.expand(-1));
        gaps.bin(Op::MatrixSetDiag, e.zeros()).cast_like(v) * v.matmul(d, true, false)
    });
    let inner = match (of_values, of_vectors) {
        (Some(a), Some(b)) => a + b,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return,
    };
    let d = v.matmul(inner.matmul(v, false, true), false, false);
    // Only the operand's lower triangle is read.
    let d = lower(d + d.adjoint());
    g.dx(0, d.bin(Op::MatrixSetDiag, 0.5 * d.un(Op::MatrixDiagPart)));
}

/// The gradient of singular values and vectors. `u` and `v` must be reduced unless the matrices are square.
fn svd(g: &Vjp<'_, '_>) {
    let a = g.x(0);
    let (s, u, v) = if matches!(g.bool("compute_uv"), Some(false)) {
        let attrs = [("compute_uv", At::Bool(true)), ("full_matrices", At::Bool(false))];
        let made = g.ops(Op::Svd, &[a], &attrs, 3);
        (made[0], made[1], made[2])
    } else {
        (g.y(0), g.y(1), g.y(2))
    };
    let (ds, [du, dv]) = (g.dy(0), [1, 2].map(|i| vectors(g, "compute_uv", i)));
    if g.flag("full_matrices") && (du.is_some() || dv.is_some()) {
        let is_square = a.sizes().is_some_and(|sizes| match sizes[..] {
            [.., rows, columns] => rows == columns && rows >= 0,
            _ => false,
        });
        if !is_square {
            return g.refuse("there is no gradient of full matrices that are not square");
        }
    }
    if a.is_complex() && (du.is_some() || dv.is_some()) {
        return g.refuse("there is no gradient of complex singular vectors");
    }
    let outer = |middle: Val<'_>| {
        let middle = u.with(middle.id);
        u.matmul(middle, false, false).matmul(v, false, true)
    };
    let mut parts: Vec<Val<'_>> = Vec::new();
    if let Some(ds) = ds {
        parts.push(outer(ds.cast_like(u).un(Op::MatrixDiag)));
    }
    if du.is_some() || dv.is_some() {
        // f[i][j] = 1 / (s[j]² - s[i]²).
        let squares = s.un(Op::Square);
        let gaps = safe_reciprocal(squares.expand(-2) - squares.expand(-1));
        let f = gaps.bin(Op::MatrixSetDiag, s.zeros());
        let (rows, columns) = (s.expand(-1), s.expand(-2));
        let inverse = safe_reciprocal(s).expand(-1);
        let both = |x: Val<'_>| {
            let x = u.with(x.id);
            x + x.adjoint()
        };
        if let Some(du) = du {
            let inner = u.matmul(du, true, false);
            parts.push(outer(both(f * inner) * columns));
            // The part of du outside the span of u.
            let rest = du - u.matmul(inner, false, false);
            parts.push((rest * inverse.adjoint()).matmul(v, false, true));
        }
        if let Some(dv) = dv {
            let inner = v.matmul(dv, true, false);
            parts.push(outer(rows * both(f * inner)));
            let rest = dv - v.matmul(inner, false, false);
            parts.push(u.matmul(rest * inverse.adjoint(), false, true));
        }
    }
    if let Some(d) = parts.into_iter().reduce(|a, b| a + b) {
        g.dx(0, d);
    }
}
