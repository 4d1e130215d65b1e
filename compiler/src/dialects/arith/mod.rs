//! `arith`: upstream's arithmetic on integers, `index` and floats, and element by element on vectors and tensors of them.
//!
//! Names, forms and checks are upstream's. Integers wrap around; a signed and an unsigned op are two ops. What upstream
//! calls undefined (division by zero, shifts by too much) or poison (`overflow<nsw>` that overflows) is never computed
//! at compile time. An op without `fastmath` or `overflowFlags` has none of these flags; the attribute with the empty
//! set is dropped when it is read.
//!
//! Here is the table; `verify.rs` has the checks, `crate::fold::arith` the folders.

mod verify;

use super::types::{ElementKind as E, TypeFn};
use super::{AttrConstraint as A, EnumDef, FlagsDef, OpDef, Registry, Traits, TypeConstraint as T};
use crate::ir::KnownType;

/// `#arith.overflow<...>`: the result is poison if it overflows.
pub static OVERFLOW: FlagsDef =
    FlagsDef { name: "arith.overflow", words: &["nsw", "nuw"], all: None, separator: ", " };

/// `#arith.fastmath<...>`: liberties that an optimizer may take.
pub static FASTMATH: FlagsDef = FlagsDef {
    name: "arith.fastmath",
    words: &["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"],
    all: Some("fast"),
    separator: ",",
};

/// Comparisons of integers.
pub static CMPI: EnumDef = EnumDef {
    what: "a predicate of `arith.cmpi`",
    ty: KnownType::I64,
    words: &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
};

/// Comparisons of floats: `o..` is false for NaN, `u..` is true.
pub static CMPF: EnumDef = EnumDef {
    what: "a predicate of `arith.cmpf`",
    ty: KnownType::I64,
    words: &[
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
        "uno", "true",
    ],
};

/// Rounding of `arith.truncf`.
pub static ROUNDING: EnumDef = EnumDef {
    what: "a rounding mode",
    ty: KnownType::I32,
    words: &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"],
};

pub(super) fn ops(r: &mut Registry) {
    constants(r);
    integers(r);
    floats(r);
    comparisons(r);
    casts(r);
}

fn constants(r: &mut Registry) {
    r.add(
        OpDef::new("arith.constant", "a constant")
            .attr("value", A::Typed)
            .result("result", T::Any)
            .type_from("result", "value", TypeFn::Same)
            .pure()
            .traits(Traits::CONSTANT)
            .format("attr-dict $value")
            .verifier(verify::constant)
            .cost(1),
    );
}

/// How an integer op writes its flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    None,
    Overflow,
}

fn integers(r: &mut Registry) {
    let commutative = Traits::COMMUTATIVE;
    let lattice = Traits::COMMUTATIVE.and(Traits::IDEMPOTENT);
    let plain = Traits::NONE;
    for (name, summary, traits, flags) in [
        ("addi", "the sum, wrapping around", commutative, Flags::Overflow),
        ("subi", "the difference, wrapping around", plain, Flags::Overflow),
        ("muli", "the product, wrapping around", commutative, Flags::Overflow),
        ("divsi", "the signed quotient, rounded toward zero", plain, Flags::None),
        ("divui", "the unsigned quotient", plain, Flags::None),
        ("ceildivsi", "the signed quotient, rounded up", plain, Flags::None),
        ("ceildivui", "the unsigned quotient, rounded up", plain, Flags::None),
        ("floordivsi", "the signed quotient, rounded down", plain, Flags::None),
        (
            "remsi",
            "the remainder of the signed division, with the sign of the first operand",
            plain,
            Flags::None,
        ),
        ("remui", "the remainder of the unsigned division", plain, Flags::None),
        ("andi", "bitwise and", lattice, Flags::None),
        ("ori", "bitwise or", lattice, Flags::None),
        ("xori", "bitwise exclusive or", commutative, Flags::None),
        ("shli", "shifted to the left", plain, Flags::Overflow),
        ("shrsi", "shifted to the right, keeping the sign", plain, Flags::None),
        ("shrui", "shifted to the right, filled with zeros", plain, Flags::None),
        ("maxsi", "the greater one, signed", lattice, Flags::None),
        ("maxui", "the greater one, unsigned", lattice, Flags::None),
        ("minsi", "the smaller one, signed", lattice, Flags::None),
        ("minui", "the smaller one, unsigned", lattice, Flags::None),
    ] {
        let def = binary(name, summary, E::IntegerOrIndex).traits(traits);
        r.add(match flags {
            Flags::None => def.format("$lhs `,` $rhs attr-dict `:` type($result)"),
            Flags::Overflow => def
                .optional_attr("overflowFlags", A::Flags(&OVERFLOW))
                .format("$lhs `,` $rhs (`overflow` $overflowFlags^)? attr-dict `:` type($result)"),
        });
    }
    r.add(
        OpDef::new("arith.addui_extended", "the unsigned sum and whether it overflowed")
            .operand("lhs", T::Like(E::IntegerOrIndex))
            .operand("rhs", T::Like(E::IntegerOrIndex))
            .result("sum", T::Like(E::IntegerOrIndex))
            .result("overflow", T::Like(E::Bool))
            .type_from("lhs", "sum", TypeFn::Same)
            .type_from("rhs", "sum", TypeFn::Same)
            .type_from("overflow", "sum", TypeFn::I1Like)
            .pure()
            .traits(Traits::COMMUTATIVE)
            .format("$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)")
            .cost(1),
    );
    for (name, summary) in [
        ("mulsi_extended", "the low and the high half of the signed product"),
        ("mului_extended", "the low and the high half of the unsigned product"),
    ] {
        r.add(
            OpDef::new(format!("arith.{name}"), summary)
                .operand("lhs", T::Like(E::IntegerOrIndex))
                .operand("rhs", T::Like(E::IntegerOrIndex))
                .result("low", T::Like(E::IntegerOrIndex))
                .result("high", T::Like(E::IntegerOrIndex))
                .type_from("rhs", "lhs", TypeFn::Same)
                .type_from("low", "lhs", TypeFn::Same)
                .type_from("high", "lhs", TypeFn::Same)
                .pure()
                .traits(Traits::COMMUTATIVE)
                .format("$lhs `,` $rhs attr-dict `:` type($lhs)")
                .cost(1),
        );
    }
}

fn floats(r: &mut Registry) {
    let lattice = Traits::COMMUTATIVE.and(Traits::IDEMPOTENT);
    for (name, summary, traits) in [
        ("addf", "the sum", Traits::COMMUTATIVE),
        ("subf", "the difference", Traits::NONE),
        ("mulf", "the product", Traits::COMMUTATIVE),
        ("divf", "the quotient", Traits::NONE),
        ("remf", "the remainder, with the sign of the first operand", Traits::NONE),
        ("maximumf", "the greater one; NaN if either is; -0.0 is less than +0.0", lattice),
        ("minimumf", "the smaller one; NaN if either is; -0.0 is less than +0.0", lattice),
        ("maxnumf", "the greater one; the other one if one is NaN", lattice),
        ("minnumf", "the smaller one; the other one if one is NaN", lattice),
    ] {
        r.add(
            binary(name, summary, E::Float)
                .optional_attr("fastmath", A::Flags(&FASTMATH))
                .traits(traits)
                .format("$lhs `,` $rhs (`fastmath` $fastmath^)? attr-dict `:` type($result)"),
        );
    }
    r.add(
        OpDef::new("arith.negf", "the number with the other sign")
            .operand("operand", T::Like(E::Float))
            .optional_attr("fastmath", A::Flags(&FASTMATH))
            .result("result", T::Like(E::Float))
            .type_from("operand", "result", TypeFn::Same)
            .pure()
            .format("$operand (`fastmath` $fastmath^)? attr-dict `:` type($result)")
            .cost(1),
    );
}

fn comparisons(r: &mut Registry) {
    r.add(
        OpDef::new("arith.cmpi", "compares integers")
            .operand("lhs", T::Like(E::IntegerOrIndex))
            .operand("rhs", T::Like(E::IntegerOrIndex))
            .attr("predicate", A::Enum(&CMPI))
            .result("result", T::Like(E::Bool))
            .type_from("rhs", "lhs", TypeFn::Same)
            .type_from("result", "lhs", TypeFn::I1Like)
            .pure()
            .format("$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)")
            .cost(1),
    );
    r.add(
        OpDef::new("arith.cmpf", "compares floats")
            .operand("lhs", T::Like(E::Float))
            .operand("rhs", T::Like(E::Float))
            .attr("predicate", A::Enum(&CMPF))
            .optional_attr("fastmath", A::Flags(&FASTMATH))
            .result("result", T::Like(E::Bool))
            .type_from("rhs", "lhs", TypeFn::Same)
            .type_from("result", "lhs", TypeFn::I1Like)
            .pure()
            .format("$predicate `,` $lhs `,` $rhs (`fastmath` $fastmath^)? attr-dict `:` type($lhs)")
            .cost(1),
    );
    r.add(
        OpDef::new("arith.select", "the second operand where the first is true, else the third")
            .operand("condition", T::Like(E::Bool))
            .operand("true_value", T::Any)
            .operand("false_value", T::Any)
            .result("result", T::Any)
            .type_default("condition", KnownType::I1)
            .type_from("true_value", "result", TypeFn::Same)
            .type_from("false_value", "result", TypeFn::Same)
            .pure()
            .format("$condition `,` $true_value `,` $false_value attr-dict `:` (type($condition)^ `,`)? type($result)")
            .verifier(verify::select)
            .cost(1),
    );
}

fn casts(r: &mut Registry) {
    let plain = "$in attr-dict `:` type($in) `to` type($out)";
    for (name, summary, from, to, verifier) in [
        (
            "extsi",
            "wider, filled with the sign",
            E::Integer,
            E::Integer,
            verify::wider as super::def::Verifier,
        ),
        ("extui", "wider, filled with zeros", E::Integer, E::Integer, verify::wider),
        ("trunci", "the low bits", E::Integer, E::Integer, verify::narrower),
        ("extf", "the same number in a wider format", E::Float, E::Float, verify::wider),
        ("sitofp", "the float nearest to a signed integer", E::Integer, E::Float, verify::same_shape),
        ("uitofp", "the float nearest to an unsigned integer", E::Integer, E::Float, verify::same_shape),
        (
            "fptosi",
            "a float rounded toward zero, as a signed integer",
            E::Float,
            E::Integer,
            verify::same_shape,
        ),
        (
            "fptoui",
            "a float rounded toward zero, as an unsigned integer",
            E::Float,
            E::Integer,
            verify::same_shape,
        ),
    ] {
        r.add(cast(name, summary, T::Like(from), T::Like(to)).format(plain).verifier(verifier));
    }
    for (name, summary) in [
        ("index_cast", "between index and integers, signed"),
        ("index_castui", "between index and integers, unsigned"),
    ] {
        let ty = T::LikeOrMemRef(E::IntegerOrIndex);
        r.add(cast(name, summary, ty, ty).format(plain).verifier(verify::index_cast));
    }
    let ty = T::LikeOrMemRef(E::IntegerOrFloat);
    r.add(cast("bitcast", "the same bits as another type", ty, ty).format(plain).verifier(verify::bitcast));
    r.add(
        cast("truncf", "the nearest number in a narrower format", T::Like(E::Float), T::Like(E::Float))
            .optional_attr("roundingmode", A::Enum(&ROUNDING))
            .format("$in ($roundingmode^)? attr-dict `:` type($in) `to` type($out)")
            .verifier(verify::narrower),
    );
}

/// Two operands and a result of one type.
fn binary(name: &str, summary: &'static str, elem: E) -> OpDef {
    OpDef::new(format!("arith.{name}"), summary)
        .operand("lhs", T::Like(elem))
        .operand("rhs", T::Like(elem))
        .result("result", T::Like(elem))
        .type_from("lhs", "result", TypeFn::Same)
        .type_from("rhs", "result", TypeFn::Same)
        .pure()
        .cost(1)
}

/// From one type to another.
fn cast(name: &str, summary: &'static str, from: T, to: T) -> OpDef {
    OpDef::new(format!("arith.{name}"), summary).operand("in", from).result("out", to).pure().cost(1)
}
