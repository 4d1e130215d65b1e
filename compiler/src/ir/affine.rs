//! Affine expressions: sums, multiples and quotients of dimensions and symbols, interned.
//!
//! An [`AffineId`] stands for its expression, as every other id of a context does. Expressions are made by
//! [`Context::affine`], which simplifies by upstream's rules: constants and symbols to the right, constants
//! folded unless they overflow, `a * 4 floordiv 2` to `a * 2`, `a - (a floordiv 4) * 4` to `a mod 4`. One
//! rule is stricter than upstream: sums nest to the left only. Upstream keeps `a + (b + 1) + 2` as it is and
//! prints it without the parentheses, so that its own output reads back as the simpler `a + b + 3`; here both
//! are the same expression.
//!
//! Maps are only read, compared and printed; the compiler never evaluates them. The reader bounds the number
//! of operations, so that recursion over an expression is safe.

use super::Context;
use super::entity::{EntityId, entity};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

entity! {
    /// An affine expression.
    AffineId = "affine";
}

/// Operations on affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOp {
    /// `a + b`.
    Add,
    /// `a * b`, where one is symbolic.
    Mul,
    /// `a mod b`.
    Mod,
    /// `a floordiv b`.
    FloorDiv,
    /// `a ceildiv b`.
    CeilDiv,
}

/// An affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// `d0`.
    Dim(u32),
    /// `s0`.
    Symbol(u32),
    /// `42`.
    Constant(i64),
    /// `a + b` and the like.
    Binary(AffineOp, AffineId, AffineId),
}

/// `affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// The results.
    pub results: Box<[AffineId]>,
}

/// `affine_set<(d0)[s0] : (d0 - s0 >= 0)>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Expressions that are zero (`true`) or not negative (`false`).
    pub constraints: Box<[(AffineId, bool)]>,
}

impl Context {
    /// A dimension, symbol or constant.
    pub fn affine_leaf(&mut self, expr: AffineExpr) -> AffineId {
        debug_assert!(!matches!(expr, AffineExpr::Binary(..)));
        self.intern_affine(expr)
    }

    /// `a op b`, simplified.
    pub fn affine(&mut self, op: AffineOp, a: AffineId, b: AffineId) -> AffineId {
        let simpler = match op {
            AffineOp::Add => self.simpler_sum(a, b),
            AffineOp::Mul => self.simpler_product(a, b),
            AffineOp::Mod => self.simpler_mod(a, b),
            AffineOp::FloorDiv => self.simpler_quotient(a, b, floor_div, true),
            AffineOp::CeilDiv => self.simpler_quotient(a, b, ceil_div, false),
        };
        simpler.unwrap_or_else(|| self.intern_affine(AffineExpr::Binary(op, a, b)))
    }

    /// The contents of an interned affine expression.
    pub fn affine_expr(&self, id: AffineId) -> AffineExpr {
        self.affine_table().row(id).0
    }

    /// True if the expression consists of constants and symbols only.
    pub fn affine_is_symbolic(&self, id: AffineId) -> bool {
        self.affine_table().row(id).1.symbolic
    }

    fn intern_affine(&mut self, expr: AffineExpr) -> AffineId {
        let table = self.affine_table();
        let facts = match expr {
            AffineExpr::Dim(_) => Facts { symbolic: false, divisor: 1 },
            AffineExpr::Symbol(_) => Facts { symbolic: true, divisor: 1 },
            AffineExpr::Constant(value) => Facts { symbolic: true, divisor: value.unsigned_abs() },
            AffineExpr::Binary(op, a, b) => {
                let ((_, a), (b_expr, b)) = (table.row(a), table.row(b));
                let divisor = match (op, b_expr) {
                    (AffineOp::Add | AffineOp::Mod, _) => gcd(a.divisor, b.divisor),
                    (AffineOp::Mul, _) => a.divisor.checked_mul(b.divisor).unwrap_or(1),
                    (AffineOp::FloorDiv | AffineOp::CeilDiv, AffineExpr::Constant(by))
                        if by != 0 && a.divisor.is_multiple_of(by.unsigned_abs()) =>
                    {
                        a.divisor / by.unsigned_abs()
                    }
                    (AffineOp::FloorDiv | AffineOp::CeilDiv, _) => 1,
                };
                Facts { symbolic: a.symbolic && b.symbolic, divisor }
            }
        };
        self.affine_table_mut().id(expr, facts)
    }

    fn constant(&mut self, value: i64) -> AffineId {
        self.intern_affine(AffineExpr::Constant(value))
    }

    fn as_constant(&self, id: AffineId) -> Option<i64> {
        match self.affine_expr(id) {
            AffineExpr::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn as_binary(&self, op: AffineOp, id: AffineId) -> Option<(AffineId, AffineId)> {
        match self.affine_expr(id) {
            AffineExpr::Binary(found, a, b) if found == op => Some((a, b)),
            _ => None,
        }
    }

    /// `(a, c)` for `a * c` with a constant `c`.
    fn as_multiple(&self, id: AffineId) -> Option<(AffineId, i64)> {
        let (a, c) = self.as_binary(AffineOp::Mul, id)?;
        Some((a, self.as_constant(c)?))
    }

    fn simpler_sum(&mut self, a: AffineId, b: AffineId) -> Option<AffineId> {
        let (left, right) = (self.as_constant(a), self.as_constant(b));
        if let (Some(x), Some(y)) = (left, right) {
            return Some(self.constant(x.checked_add(y)?));
        }
        if left.is_some() || self.affine_is_symbolic(a) && !self.affine_is_symbolic(b) {
            return Some(self.affine(AffineOp::Add, b, a));
        }
        if right == Some(0) {
            return Some(a);
        }
        // a + (b + c): to the left.
        if let Some((first, second)) = self.as_binary(AffineOp::Add, b) {
            let sum = self.affine(AffineOp::Add, a, first);
            return Some(self.affine(AffineOp::Add, sum, second));
        }
        let tail =
            self.as_binary(AffineOp::Add, a).and_then(|(head, c)| Some((head, c, self.as_constant(c)?)));
        if let (Some((head, _, x)), Some(y)) = (tail, right)
            && let Some(sum) = x.checked_add(y)
        {
            let sum = self.constant(sum);
            return Some(self.affine(AffineOp::Add, head, sum));
        }
        // x * a + y * a.
        let (first, x) = self.as_multiple(a).unwrap_or((a, 1));
        let (second, y) = self.as_multiple(b).unwrap_or((b, 1));
        if first == second && right.is_none() {
            let sum = self.constant(x.checked_add(y)?);
            return Some(self.affine(AffineOp::Mul, first, sum));
        }
        // (a + 2) + b: the constant goes last.
        if let (Some((head, c, _)), None) = (tail, right) {
            let sum = self.affine(AffineOp::Add, head, b);
            return Some(self.affine(AffineOp::Add, sum, c));
        }
        self.as_remainder(a, b)
    }

    /// `a mod q` for `a` and `b = (a floordiv q) * -q`, or `b = (a floordiv q) * q * -1` with symbolic `q`.
    fn as_remainder(&mut self, a: AffineId, b: AffineId) -> Option<AffineId> {
        let (inner, factor) = self.as_multiple(b)?;
        if factor == -1
            && let Some((quotient, q)) = self.as_binary(AffineOp::Mul, inner)
            && self.as_binary(AffineOp::FloorDiv, quotient) == Some((a, q))
        {
            return Some(self.affine(AffineOp::Mod, a, q));
        }
        let (dividend, q) = self.as_binary(AffineOp::FloorDiv, inner)?;
        let divisor = self.as_constant(q)?;
        if dividend == a && divisor > 0 && factor == -divisor {
            return Some(self.affine(AffineOp::Mod, a, q));
        }
        None
    }

    fn simpler_product(&mut self, a: AffineId, b: AffineId) -> Option<AffineId> {
        let (left, right) = (self.as_constant(a), self.as_constant(b));
        if let (Some(x), Some(y)) = (left, right) {
            return Some(self.constant(x.checked_mul(y)?));
        }
        let symbolic = self.affine_is_symbolic(b);
        if !symbolic && !self.affine_is_symbolic(a) {
            return None;
        }
        if !symbolic || left.is_some() {
            return Some(self.affine(AffineOp::Mul, b, a));
        }
        match right {
            Some(1) => return Some(a),
            Some(0) => return Some(b),
            _ => {}
        }
        let (inner, x) = self.as_multiple(a)?;
        if let Some(y) = right {
            let product = self.constant(x.wrapping_mul(y));
            return Some(self.affine(AffineOp::Mul, inner, product));
        }
        // (a * 2) * s: the constant goes last.
        let product = self.affine(AffineOp::Mul, inner, b);
        let x = self.constant(x);
        Some(self.affine(AffineOp::Mul, product, x))
    }

    fn simpler_quotient(
        &mut self,
        a: AffineId,
        b: AffineId,
        divide: fn(i64, i64) -> Option<i64>,
        sums: bool,
    ) -> Option<AffineId> {
        let divisor = self.as_constant(b).filter(|d| *d != 0)?;
        if let Some(value) = self.as_constant(a) {
            return Some(self.constant(divide(value, divisor)?));
        }
        if divisor == 1 {
            return Some(a);
        }
        if let Some((inner, factor)) = self.as_multiple(a)
            && factor.checked_rem(divisor) == Some(0)
        {
            let factor = self.constant(factor / divisor);
            return Some(self.affine(AffineOp::Mul, inner, factor));
        }
        let (x, y) = self.as_binary(AffineOp::Add, a).filter(|_| sums)?;
        if self.divides(divisor, x) || self.divides(divisor, y) {
            let x = self.affine(AffineOp::FloorDiv, x, b);
            let y = self.affine(AffineOp::FloorDiv, y, b);
            return Some(self.affine(AffineOp::Add, x, y));
        }
        None
    }

    fn simpler_mod(&mut self, a: AffineId, b: AffineId) -> Option<AffineId> {
        let divisor = self.as_constant(b).filter(|d| *d >= 1)?;
        if let Some(value) = self.as_constant(a) {
            return Some(self.constant(value.rem_euclid(divisor)));
        }
        if self.divides(divisor, a) {
            return Some(self.constant(0));
        }
        if let Some((x, y)) = self.as_binary(AffineOp::Add, a) {
            if self.divides(divisor, x) {
                return Some(self.affine(AffineOp::Mod, y, b));
            }
            if self.divides(divisor, y) {
                return Some(self.affine(AffineOp::Mod, x, b));
            }
        }
        let (inner, outer) = self.as_binary(AffineOp::Mod, a)?;
        let outer = self.as_constant(outer).filter(|m| *m >= 1)?;
        (outer % divisor == 0).then(|| self.affine(AffineOp::Mod, inner, b))
    }

    fn divides(&self, divisor: i64, id: AffineId) -> bool {
        self.affine_table().row(id).1.divisor.is_multiple_of(divisor.unsigned_abs())
    }

    /// True for `(d0, ..., dn) -> (d0, ..., dn)`.
    pub fn affine_is_identity(&self, map: &AffineMap) -> bool {
        let in_order = |(i, id): (usize, &AffineId)| self.affine_expr(*id) == AffineExpr::Dim(i as u32);
        map.symbols == 0
            && map.results.len() == map.dims as usize
            && map.results.iter().enumerate().all(in_order)
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) == (b < 0) { q + 1 } else { q })
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Cached facts about an expression.
#[derive(Clone, Copy)]
struct Facts {
    /// Consists of constants and symbols only.
    symbolic: bool,
    /// A number that divides the expression for all values of its variables; 0 if the expression is zero.
    divisor: u64,
}

/// Expressions in the order of their creation.
#[derive(Default)]
pub(super) struct AffineTable(IndexMap<AffineExpr, Facts, FxBuildHasher>);

impl AffineTable {
    fn id(&mut self, expr: AffineExpr, facts: Facts) -> AffineId {
        AffineId::new(self.0.insert_full(expr, facts).0)
    }

    fn row(&self, id: AffineId) -> (AffineExpr, Facts) {
        match self.0.get_index(id.index()) {
            Some((expr, facts)) => (*expr, *facts),
            None => (AffineExpr::Constant(0), Facts { symbolic: true, divisor: 0 }),
        }
    }
}
