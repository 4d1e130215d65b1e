//! `math`, `index` and `vector.print` of upstream, and `flow`.
//!
//! `flow` is ours: the parts of upstream's control flow that kernels execute. `convert-upstream-to-kernels`
//! creates its ops.

use super::arith::{CMPI, FASTMATH, is_total};
use super::short::{CHAIN, I1, UPSTREAM_TO_KERNELS};
use super::{
    Access, AttrConstraint as A, EffectResource, ElementKind as E, FlagsDef, OpDef, Registry,
    TypeConstraint as T, TypeFn,
};
use crate::ir::KnownType;

/// `#vector.punctuation<...>`: the text that `vector.print` prints after the value.
pub(crate) static PUNCTUATION: FlagsDef = FlagsDef {
    name: "vector.punctuation",
    words: &["no_punctuation", "comma", "open", "close"],
    all: None,
    none: "newline",
    separator: None,
};

const INDEX: T = T::Is(KnownType::Index);

pub(super) fn ops(r: &mut Registry) {
    math(r);
    index(r);
    flow(r);
    r.add(
        OpDef::new("vector.print", "prints a number and what follows it, by default the end of the line")
            .operand("source", T::Any)
            .optional_attr("punctuation", A::Flags(&PUNCTUATION))
            .effect(Access::Write, EffectResource::Output)
            .lowered_by(UPSTREAM_TO_KERNELS)
            .format("$source `:` type($source) (`punctuation` $punctuation^)? attr-dict"),
    );
}

fn math(r: &mut Registry) {
    let of = |name: &str, summary, operands: &[&'static str], elem: E| {
        let mut def = OpDef::new(format!("math.{name}"), summary);
        for operand in operands {
            def = def.operand(operand, T::Like(elem));
        }
        def = def.result("result", T::Like(elem));
        for operand in operands {
            def = def.type_from(operand, "result", TypeFn::Same);
        }
        def.pure().kernel().total_if(is_total).cost(1)
    };
    for (name, summary) in [
        ("absf", "the absolute value"),
        ("acos", "the arc cosine"),
        ("acosh", "the inverse hyperbolic cosine"),
        ("asin", "the arc sine"),
        ("asinh", "the inverse hyperbolic sine"),
        ("atan", "the arc tangent"),
        ("atanh", "the inverse hyperbolic tangent"),
        ("cbrt", "the cube root"),
        ("ceil", "rounded up"),
        ("cos", "the cosine"),
        ("cosh", "the hyperbolic cosine"),
        ("erf", "the error function"),
        ("exp", "e to this power"),
        ("exp2", "2 to this power"),
        ("expm1", "e to this power, minus one"),
        ("floor", "rounded down"),
        ("log", "the natural logarithm"),
        ("log10", "the logarithm to base 10"),
        ("log1p", "the natural logarithm of one plus the number"),
        ("log2", "the logarithm to base 2"),
        ("round", "rounded to the nearest integer, halves away from zero"),
        ("roundeven", "rounded to the nearest integer, halves to even"),
        ("rsqrt", "one divided by the square root"),
        ("sin", "the sine"),
        ("sinh", "the hyperbolic sine"),
        ("sqrt", "the square root"),
        ("tan", "the tangent"),
        ("tanh", "the hyperbolic tangent"),
        ("trunc", "rounded toward zero"),
    ] {
        let def = of(name, summary, &["operand"], E::Float).optional_attr("fastmath", A::Flags(&FASTMATH));
        r.add(def.format("$operand (`fastmath` $fastmath^)? attr-dict `:` type($result)"));
    }
    for (name, summary) in [
        ("atan2", "the angle of the point with these coordinates, the second one first"),
        ("copysign", "the first number with the sign of the second"),
        ("powf", "the first number to the power of the second"),
    ] {
        let def = of(name, summary, &["lhs", "rhs"], E::Float).optional_attr("fastmath", A::Flags(&FASTMATH));
        r.add(def.format("$lhs `,` $rhs (`fastmath` $fastmath^)? attr-dict `:` type($result)"));
    }
    r.add(
        of("fma", "the product of two numbers plus a third, rounded once", &["a", "b", "c"], E::Float)
            .optional_attr("fastmath", A::Flags(&FASTMATH))
            .format("$a `,` $b `,` $c (`fastmath` $fastmath^)? attr-dict `:` type($result)"),
    );
    for (name, summary) in [
        ("absi", "the absolute value, wrapping around"),
        ("ctlz", "the number of leading zeros"),
        ("ctpop", "the number of ones"),
        ("cttz", "the number of trailing zeros"),
    ] {
        let def = of(name, summary, &["operand"], E::IntegerOrIndex);
        r.add(def.format("$operand attr-dict `:` type($result)"));
    }
    r.add(
        of(
            "ipowi",
            "the first integer to the power of the second, wrapping around",
            &["lhs", "rhs"],
            E::IntegerOrIndex,
        )
        .format("$lhs `,` $rhs attr-dict `:` type($result)"),
    );
    r.add(
        OpDef::new("math.fpowi", "a float to the power of an integer")
            .operand("lhs", T::Like(E::Float))
            .operand("rhs", T::Like(E::IntegerOrIndex))
            .optional_attr("fastmath", A::Flags(&FASTMATH))
            .result("result", T::Like(E::Float))
            .type_from("result", "lhs", TypeFn::Same)
            .pure()
            .format("$lhs `,` $rhs (`fastmath` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)")
            .kernel()
            .cost(1),
    );
    for (name, summary) in [
        ("isfinite", "true for a finite number"),
        ("isinf", "true for an infinity"),
        ("isnan", "true for NaN"),
        ("isnormal", "true for a normal number"),
    ] {
        r.add(
            OpDef::new(format!("math.{name}"), summary)
                .operand("operand", T::Like(E::Float))
                .optional_attr("fastmath", A::Flags(&FASTMATH))
                .result("result", T::Like(E::Bool))
                .type_from("result", "operand", TypeFn::I1Like)
                .pure()
                .format("$operand (`fastmath` $fastmath^)? attr-dict `:` type($operand)")
                .kernel()
                .cost(1),
        );
    }
}

fn index(r: &mut Registry) {
    for (name, summary) in [
        ("add", "the sum, wrapping around"),
        ("sub", "the difference, wrapping around"),
        ("mul", "the product, wrapping around"),
        ("divs", "the signed quotient, rounded toward zero"),
        ("divu", "the unsigned quotient"),
        ("ceildivs", "the signed quotient, rounded up"),
        ("ceildivu", "the unsigned quotient, rounded up"),
        ("floordivs", "the signed quotient, rounded down"),
        ("rems", "the remainder of the signed division"),
        ("remu", "the remainder of the unsigned division"),
        ("and", "bitwise and"),
        ("or", "bitwise or"),
        ("xor", "bitwise exclusive or"),
        ("shl", "shifted to the left"),
        ("shrs", "shifted to the right, keeping the sign"),
        ("shru", "shifted to the right, filled with zeros"),
        ("maxs", "the greater one, signed"),
        ("maxu", "the greater one, unsigned"),
        ("mins", "the smaller one, signed"),
        ("minu", "the smaller one, unsigned"),
    ] {
        r.add(
            OpDef::new(format!("index.{name}"), summary)
                .operand("lhs", INDEX)
                .operand("rhs", INDEX)
                .result("result", INDEX)
                .pure()
                .format("$lhs `,` $rhs attr-dict")
                .kernel()
                .cost(1),
        );
    }
    r.add(
        OpDef::new("index.constant", "a constant")
            .attr("value", A::Int(KnownType::Index))
            .result("result", INDEX)
            .pure()
            .format("attr-dict $value")
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("index.bool.constant", "a constant of type i1")
            .attr("value", A::Bool)
            .result("result", I1)
            .pure()
            .format("attr-dict $value")
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("index.cmp", "compares indices")
            .operand("lhs", INDEX)
            .operand("rhs", INDEX)
            .attr("pred", A::Enum(&CMPI))
            .result("result", I1)
            .pure()
            .format("$pred `(` $lhs `,` $rhs `)` attr-dict")
            .kernel()
            .cost(1),
    );
    for (name, summary) in
        [("casts", "between index and integers, signed"), ("castu", "between index and integers, unsigned")]
    {
        r.add(
            OpDef::new(format!("index.{name}"), summary)
                .operand("input", T::Like(E::IntegerOrIndex))
                .result("output", T::Like(E::IntegerOrIndex))
                .pure()
                .format("$input attr-dict `:` type($input) `to` type($output)")
                .kernel()
                .cost(1),
        );
    }
}

fn flow(r: &mut Registry) {
    let number = T::Like(E::IntegerOrIndex);
    r.add(
        OpDef::new(
            "flow.enters",
            "whether a loop has a first iteration; an error unless the step is positive",
        )
        .operand("lower", number)
        .operand("upper", number)
        .operand("step", number)
        .result("enters", I1)
        .pure()
        .kernel()
        .cost(1),
    );
    r.add(
        OpDef::new("flow.next", "the next number of a loop, and whether there is such an iteration")
            .operand("i", number)
            .operand("upper", number)
            .operand("step", number)
            .result("next", number)
            .result("goes_on", I1)
            .pure()
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("flow.after", "the second operand, once the chain is final")
            .operand("chain", CHAIN)
            .operand("value", T::Any)
            .result("result", T::Any)
            .pure()
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("flow.unused", "a value that no kernel reads")
            .result("result", T::Any)
            .pure()
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("flow.assert", "an error with this message unless the operand is true")
            .operand("arg", I1)
            .operand("chain", CHAIN)
            .attr("msg", A::Str)
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::ExecutionContext)
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("flow.print", "prints a value and the text behind it")
            .operand("source", T::Any)
            .operand("chain", CHAIN)
            .attr("end", A::Str)
            .result("done", CHAIN)
            .effect(Access::Write, EffectResource::Output)
            .kernel(),
    );
}
