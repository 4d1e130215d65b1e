//! `arith`: upstream's arithmetic on integers, `index` and floats, and element by element on vectors and
//! tensors of them.
//!
//! Names, forms and checks are upstream's. Integers wrap around; a signed and an unsigned op are two ops.
//! Results that are undefined upstream (division by zero, shifts by too much) or poison (`overflow<nsw>` that
//! overflows) are never computed at compile time. An op without `fastmath` or `overflowFlags` has none of
//! these flags; the attribute with the empty set is dropped when it is read.
//!
//! Here is the table; `parts.rs` has the words of its attributes, `verify.rs` the checks, `total.rs` the ops
//! that never fail, `crate::fold` the folders.

mod parts;
mod total;
mod verify;

pub(super) use total::is_total;

pub use parts::{CMPF, CMPI, FASTMATH, OVERFLOW, ROUNDING, Select, VIEWS};

use super::def::{Folder, Verifier};
use super::types::{ElementKind as E, TypeFn};
use super::{AttrConstraint as A, OpDef, Registry, Traits, TypeConstraint as T};
use crate::fold::patterns as rewrites;
use crate::fold::{arith_floats, arith_ints, casts, compare};
use crate::ir::{AttrKind, KnownType, Module, OpId, TypeKind, names};
use crate::print::{attr_text, type_text};
use crate::rewrite::Pattern;

/// The patterns of each op.
fn patterns(op: &str) -> &'static [Pattern] {
    use rewrites::{casts as c, floats as f, ints as i, select as s};
    match op {
        "addi" => &[i::ADD_CONSTANTS, i::ADD_NEGATIVE],
        "subi" => &[i::SUB_CONSTANTS, i::SUB_SELF],
        "muli" => &[i::MUL_CONSTANTS],
        "andi" | "ori" => &[i::BITWISE_OF_EXT],
        "xori" => &[i::NOT_OF_COMPARE, i::BITWISE_OF_EXT],
        "cmpi" => &[i::COMPARE_EXT],
        "addui_extended" => &[i::PLAIN_SUM],
        "mulsi_extended" | "mului_extended" => &[i::PLAIN_PRODUCT],
        "select" => &[s::NESTED, s::OF_NOT, s::TO_NOT, s::TO_EXTUI],
        "extsi" => &[c::EXTSI_OF_EXTUI],
        "trunci" => &[c::TRUNC_OF_EXT, c::TRUNC_OF_SHRSI],
        "index_cast" => &[c::INDEX_CAST_OF_EXTSI],
        "index_castui" => &[c::INDEX_CASTUI_OF_EXTUI],
        "mulf" => &[f::MUL_OF_NEG],
        "divf" => &[f::DIV_OF_NEG],
        _ => &[],
    }
}

/// Adds an op with its patterns.
fn add(r: &mut Registry, def: OpDef) {
    let op = def.name.trim_start_matches("arith.").to_owned();
    let def = def.kernel().total_if(is_total);
    r.add(patterns(&op).iter().fold(def, |def, pattern| def.pattern(*pattern)));
}

pub(super) fn ops(r: &mut Registry) {
    constants(r);
    integers(r);
    floats(r);
    comparisons(r);
    casts(r);
}

fn constants(r: &mut Registry) {
    add(
        r,
        OpDef::new("arith.constant", "a constant")
            .attr("value", A::Typed)
            .result("result", T::Any)
            .type_from("result", "value", TypeFn::Same)
            .pure()
            .traits(Traits::CONSTANT)
            .result_names(constant_name)
            .format("attr-dict $value")
            .verifier(verify::constant)
            .cost(1),
    );
}

/// `true`, `c0`, `c1_i32`, or else `cst`.
fn constant_name(m: &Module, op: OpId) -> Vec<String> {
    let value = m.attr(op, names::VALUE).map(|a| m.cx.attr(a));
    let name = match value {
        Some(AttrKind::Bool(value)) => value.to_string(),
        Some(&AttrKind::Int { ty, value }) => match m.cx.ty(ty) {
            TypeKind::Index => format!("c{value}"),
            _ => format!("c{value}_{}", type_text(&m.cx, ty)),
        },
        Some(AttrKind::WideInt { .. }) => {
            let text = m.attr(op, names::VALUE).map_or_else(String::new, |a| attr_text(&m.cx, a));
            format!("c{}", text.replace(" : ", "_"))
        }
        _ => "cst".into(),
    };
    vec![name]
}

/// Printed form of an integer op's flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    None,
    Overflow,
}

fn integers(r: &mut Registry) {
    let commutative = Traits::COMMUTATIVE;
    let lattice = Traits::COMMUTATIVE.and(Traits::IDEMPOTENT);
    let plain = Traits::NONE;
    let traps = Traits::TRAPS;
    for (name, summary, traits, flags, folder) in [
        ("addi", "the sum, wrapping around", commutative, Flags::Overflow, arith_ints::addi as Folder),
        ("subi", "the difference, wrapping around", plain, Flags::Overflow, arith_ints::subi),
        ("muli", "the product, wrapping around", commutative, Flags::Overflow, arith_ints::muli),
        ("divsi", "the signed quotient, rounded toward zero", traps, Flags::None, arith_ints::divsi),
        ("divui", "the unsigned quotient", traps, Flags::None, arith_ints::divui),
        ("ceildivsi", "the signed quotient, rounded up", traps, Flags::None, arith_ints::ceildivsi),
        ("ceildivui", "the unsigned quotient, rounded up", traps, Flags::None, arith_ints::ceildivui),
        ("floordivsi", "the signed quotient, rounded down", traps, Flags::None, arith_ints::floordivsi),
        (
            "remsi",
            "the remainder of the signed division, with the sign of the first operand",
            plain,
            Flags::None,
            arith_ints::remsi,
        ),
        ("remui", "the remainder of the unsigned division", plain, Flags::None, arith_ints::remui),
        ("andi", "bitwise and", lattice, Flags::None, arith_ints::andi),
        ("ori", "bitwise or", lattice, Flags::None, arith_ints::ori),
        ("xori", "bitwise exclusive or", commutative, Flags::None, arith_ints::xori),
        ("shli", "shifted to the left", plain, Flags::Overflow, arith_ints::shli),
        ("shrsi", "shifted to the right, keeping the sign", plain, Flags::None, arith_ints::shrsi),
        ("shrui", "shifted to the right, filled with zeros", plain, Flags::None, arith_ints::shrui),
        ("maxsi", "the greater one, signed", lattice, Flags::None, arith_ints::maxsi),
        ("maxui", "the greater one, unsigned", lattice, Flags::None, arith_ints::maxui),
        ("minsi", "the smaller one, signed", lattice, Flags::None, arith_ints::minsi),
        ("minui", "the smaller one, unsigned", lattice, Flags::None, arith_ints::minui),
    ] {
        let def = binary(name, summary, E::IntegerOrIndex).traits(traits).folder(folder);
        add(
            r,
            match flags {
                Flags::None => def.format("$lhs `,` $rhs attr-dict `:` type($result)"),
                Flags::Overflow => def
                    .optional_attr("overflowFlags", A::Flags(&OVERFLOW))
                    .format("$lhs `,` $rhs (`overflow` $overflowFlags^)? attr-dict `:` type($result)"),
            },
        );
    }
    add(
        r,
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
            .result_names(|_, _| vec!["sum".into(), "overflow".into()])
            .format("$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)")
            .folder(arith_ints::addui_extended)
            .cost(1),
    );
    for (name, summary, folder) in [
        (
            "mulsi_extended",
            "the low and the high half of the signed product",
            arith_ints::mulsi_extended as Folder,
        ),
        ("mului_extended", "the low and the high half of the unsigned product", arith_ints::mului_extended),
    ] {
        add(
            r,
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
                .result_names(|_, _| vec!["low".into(), "high".into()])
                .format("$lhs `,` $rhs attr-dict `:` type($lhs)")
                .folder(folder)
                .cost(1),
        );
    }
}

fn floats(r: &mut Registry) {
    let lattice = Traits::COMMUTATIVE.and(Traits::IDEMPOTENT);
    for (name, summary, traits, folder) in [
        ("addf", "the sum", Traits::COMMUTATIVE, arith_floats::addf as Folder),
        ("subf", "the difference", Traits::NONE, arith_floats::subf),
        ("mulf", "the product", Traits::COMMUTATIVE, arith_floats::mulf),
        ("divf", "the quotient", Traits::NONE, arith_floats::divf),
        ("remf", "the remainder, with the sign of the first operand", Traits::NONE, arith_floats::remf),
        (
            "maximumf",
            "the greater one; NaN if either is; -0.0 is less than +0.0",
            lattice,
            arith_floats::maximumf,
        ),
        (
            "minimumf",
            "the smaller one; NaN if either is; -0.0 is less than +0.0",
            lattice,
            arith_floats::minimumf,
        ),
        ("maxnumf", "the greater one; the other one if one is NaN", lattice, arith_floats::maxnumf),
        ("minnumf", "the smaller one; the other one if one is NaN", lattice, arith_floats::minnumf),
    ] {
        add(
            r,
            binary(name, summary, E::Float)
                .optional_attr("fastmath", A::Flags(&FASTMATH))
                .traits(traits)
                .folder(folder)
                .format("$lhs `,` $rhs (`fastmath` $fastmath^)? attr-dict `:` type($result)"),
        );
    }
    add(
        r,
        OpDef::new("arith.negf", "the number with the other sign")
            .operand("operand", T::Like(E::Float))
            .optional_attr("fastmath", A::Flags(&FASTMATH))
            .result("result", T::Like(E::Float))
            .type_from("operand", "result", TypeFn::Same)
            .pure()
            .folder(arith_floats::negf)
            .format("$operand (`fastmath` $fastmath^)? attr-dict `:` type($result)")
            .cost(1),
    );
}

fn comparisons(r: &mut Registry) {
    add(
        r,
        OpDef::new("arith.cmpi", "compares integers")
            .operand("lhs", T::Like(E::IntegerOrIndex))
            .operand("rhs", T::Like(E::IntegerOrIndex))
            .attr("predicate", A::Enum(&CMPI))
            .result("result", T::Like(E::Bool))
            .type_from("rhs", "lhs", TypeFn::Same)
            .type_from("result", "lhs", TypeFn::I1Like)
            .pure()
            .format("$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)")
            .folder(compare::cmpi)
            .cost(1),
    );
    add(
        r,
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
            .folder(compare::cmpf)
            .cost(1),
    );
    add(
        r,
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
            .folder(compare::select)
            .cost(1),
    );
}

fn casts(r: &mut Registry) {
    let plain = "$in attr-dict `:` type($in) `to` type($out)";
    let (int, float) = (T::Like(E::Integer), T::Like(E::Float));
    let mut put = |def: OpDef, verifier: Verifier, folder: Folder| {
        add(r, def.verifier(verifier).folder(folder));
    };
    put(cast("extsi", "wider, filled with the sign", int, int).format(plain), verify::wider, casts::extsi);
    put(cast("extui", "wider, filled with zeros", int, int).format(plain), verify::wider, casts::extui);
    put(cast("trunci", "the low bits", int, int).format(plain), verify::narrower, casts::trunci);
    put(
        cast("extf", "the same number in a wider format", float, float).format(plain),
        verify::wider,
        casts::extf,
    );
    put(
        cast("truncf", "the nearest number in a narrower format", float, float)
            .optional_attr("roundingmode", A::Enum(&ROUNDING))
            .format("$in ($roundingmode^)? attr-dict `:` type($in) `to` type($out)"),
        verify::narrower,
        casts::truncf,
    );
    put(
        cast("sitofp", "the float nearest to a signed integer", int, float).format(plain),
        verify::same_shape,
        casts::sitofp,
    );
    put(
        cast("uitofp", "the float nearest to an unsigned integer", int, float).format(plain),
        verify::same_shape,
        casts::uitofp,
    );
    put(
        cast("fptosi", "a float rounded toward zero, as a signed integer", float, int).format(plain),
        verify::same_shape,
        casts::fptosi,
    );
    put(
        cast("fptoui", "a float rounded toward zero, as an unsigned integer", float, int).format(plain),
        verify::same_shape,
        casts::fptoui,
    );
    let index = T::LikeOrMemRef(E::IntegerOrIndex);
    put(
        cast("index_cast", "between index and integers, signed", index, index).format(plain),
        verify::index_cast,
        casts::index_cast,
    );
    put(
        cast("index_castui", "between index and integers, unsigned", index, index).format(plain),
        verify::index_cast,
        casts::index_castui,
    );
    let any = T::LikeOrMemRef(E::IntegerOrFloat);
    put(
        cast("bitcast", "the same bits as another type", any, any).format(plain),
        verify::bitcast,
        casts::bitcast,
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
