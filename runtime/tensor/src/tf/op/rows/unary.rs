//! Elementwise functions of one tensor.

use super::super::eval;
use super::super::infer::rules;
use super::super::row::{
    ALL, Activates, BOOLS, Cost, FLOATS, Gradient, INTS, NONE, NUMBERS, cast, function, impure, part, test,
    unary,
};
use super::operators::operators;
use crate::tf::{Part, Test, Unary};

operators! { 0:
    /// The absolute value; of a complex number see `ComplexAbs`.
    Abs "x:T -> y:T; T:type" => unary(Unary::Abs).total(NUMBERS);
    /// The inverse cosine.
    Acos "x:T -> y:T; T:type" => unary(Unary::Acos);
    /// The inverse hyperbolic cosine.
    Acosh "x:T -> y:T; T:type" => unary(Unary::Acosh);
    /// The inverse sine.
    Asin "x:T -> y:T; T:type" => unary(Unary::Asin);
    /// The inverse hyperbolic sine.
    Asinh "x:T -> y:T; T:type" => unary(Unary::Asinh);
    /// The inverse tangent.
    Atan "x:T -> y:T; T:type" => unary(Unary::Atan);
    /// The inverse hyperbolic tangent.
    Atanh "x:T -> y:T; T:type" => unary(Unary::Atanh);
    /// The modified Bessel function of order 0.
    BesselI0 "x:T -> y:T; T:type" => unary(Unary::BesselI0);
    /// The modified Bessel function of order 0, times exp(-abs(x)).
    BesselI0e "x:T -> y:T; T:type" => unary(Unary::BesselI0e);
    /// The modified Bessel function of order 1.
    BesselI1 "x:T -> y:T; T:type" => unary(Unary::BesselI1);
    /// The modified Bessel function of order 1, times exp(-abs(x)).
    BesselI1e "x:T -> y:T; T:type" => unary(Unary::BesselI1e);
    /// The Bessel function of the first kind of order 0.
    BesselJ0 "x:T -> y:T; T:type" => unary(Unary::BesselJ0);
    /// The Bessel function of the first kind of order 1.
    BesselJ1 "x:T -> y:T; T:type" => unary(Unary::BesselJ1);
    /// The modified Bessel function of the second kind of order 0.
    BesselK0 "x:T -> y:T; T:type" => unary(Unary::BesselK0);
    /// The modified Bessel function of the second kind of order 0, times exp(x).
    BesselK0e "x:T -> y:T; T:type" => unary(Unary::BesselK0e);
    /// The modified Bessel function of the second kind of order 1.
    BesselK1 "x:T -> y:T; T:type" => unary(Unary::BesselK1);
    /// The modified Bessel function of the second kind of order 1, times exp(x).
    BesselK1e "x:T -> y:T; T:type" => unary(Unary::BesselK1e);
    /// The Bessel function of the second kind of order 0.
    BesselY0 "x:T -> y:T; T:type" => unary(Unary::BesselY0);
    /// The Bessel function of the second kind of order 1.
    BesselY1 "x:T -> y:T; T:type" => unary(Unary::BesselY1);
    /// Dawson's integral.
    Dawsn "x:T -> y:T; T:type" => unary(Unary::Dawsn);
    /// The exponential integral.
    Expint "x:T -> y:T; T:type" => unary(Unary::Expint);
    /// Fresnel's integral of the cosine.
    FresnelCos "x:T -> y:T; T:type" => unary(Unary::FresnelCos);
    /// Fresnel's integral of the sine.
    FresnelSin "x:T -> y:T; T:type" => unary(Unary::FresnelSin);
    /// The dilogarithm of 1 - x.
    Spence "x:T -> y:T; T:type" => unary(Unary::Spence);
    /// The smallest integer that is not less than x.
    Ceil "x:T -> y:T; T:type" => unary(Unary::Ceil).no_gradient();
    /// The complex conjugate.
    Conj "input:T -> output:T; T:type=complex64" => unary(Unary::Conj).total(NONE);
    /// The cosine.
    Cos "x:T -> y:T; T:type" => unary(Unary::Cos);
    /// The hyperbolic cosine.
    Cosh "x:T -> y:T; T:type" => unary(Unary::Cosh);
    /// The derivative of the logarithm of the gamma function.
    Digamma "x:T -> y:T; T:type" => unary(Unary::Digamma);
    /// The exponential linear unit: x where x > 0, else exp(x) - 1.
    Elu "features:T -> activations:T; T:type" => unary(Unary::Elu).activates(Activates::All);
    /// The error function.
    Erf "x:T -> y:T; T:type" => unary(Unary::Erf);
    /// The complementary error function, 1 - erf(x).
    Erfc "x:T -> y:T; T:type" => unary(Unary::Erfc);
    /// The inverse of the error function.
    Erfinv "x:T -> y:T; T:type" => unary(Unary::Erfinv);
    /// The exponential function.
    Exp "x:T -> y:T; T:type" => unary(Unary::Exp);
    /// exp(x) - 1, exact for small x.
    Expm1 "x:T -> y:T; T:type" => unary(Unary::Expm1);
    /// The largest integer that is not greater than x.
    Floor "x:T -> y:T; T:type" => unary(Unary::Floor).no_gradient();
    /// The reciprocal; an old name of `Reciprocal`.
    Inv "x:T -> y:T; T:type" => unary(Unary::Reciprocal);
    /// All bits of an integer inverted.
    Invert "x:T -> y:T; T:type" => unary(Unary::Invert).total(INTS).no_gradient();
    /// The logarithm of the absolute value of the gamma function.
    Lgamma "x:T -> y:T; T:type" => unary(Unary::Lgamma);
    /// The natural logarithm.
    Log "x:T -> y:T; T:type" => unary(Unary::Log);
    /// log(1 + x), exact for small x.
    Log1p "x:T -> y:T; T:type" => unary(Unary::Log1p);
    /// The negation of a truth value.
    LogicalNot "x:bool -> y:bool" => unary(Unary::LogicalNot).total(BOOLS).no_gradient();
    /// The quantile function of the normal distribution.
    Ndtri "x:T -> y:T; T:type" => unary(Unary::Ndtri);
    /// The negative.
    Neg "x:T -> y:T; T:type" => unary(Unary::Neg).total(NUMBERS);
    /// 1 / x.
    Reciprocal "x:T -> y:T; T:type" => unary(Unary::Reciprocal);
    /// The rectified linear unit, max(x, 0).
    Relu "features:T -> activations:T; T:type" => unary(Unary::Relu).activates(Activates::All);
    /// The rectified linear unit with an upper bound, min(max(x, 0), 6).
    Relu6 "features:T -> activations:T; T:type" => unary(Unary::Relu6).activates(Activates::All);
    /// The nearest integer; of two equally near ones, the even one.
    Rint "x:T -> y:T; T:type" => unary(Unary::Round).no_gradient();
    /// The nearest integer; of two equally near ones, the even one.
    Round "x:T -> y:T; T:type" => unary(Unary::Round).no_gradient();
    /// 1 / sqrt(x).
    Rsqrt "x:T -> y:T; T:type" => unary(Unary::Rsqrt);
    /// The scaled exponential linear unit.
    Selu "features:T -> activations:T; T:type" => unary(Unary::Selu).activates(Activates::Packed);
    /// The logistic function, 1 / (1 + exp(-x)).
    Sigmoid "x:T -> y:T; T:type" => unary(Unary::Sigmoid).activates(Activates::Matrices);
    /// -1, 0 or 1 by the sign; of a complex number, x / abs(x).
    Sign "x:T -> y:T; T:type" => unary(Unary::Sign).total(NUMBERS);
    /// The sine.
    Sin "x:T -> y:T; T:type" => unary(Unary::Sin);
    /// The hyperbolic sine.
    Sinh "x:T -> y:T; T:type" => unary(Unary::Sinh);
    /// log(exp(x) + 1).
    Softplus "features:T -> activations:T; T:type" => unary(Unary::Softplus).activates(Activates::Packed);
    /// x / (abs(x) + 1).
    Softsign "features:T -> activations:T; T:type" => unary(Unary::Softsign);
    /// The square root.
    Sqrt "x:T -> y:T; T:type" => unary(Unary::Sqrt);
    /// x * x.
    Square "x:T -> y:T; T:type" => unary(Unary::Square).total(NUMBERS);
    /// The tangent.
    Tan "x:T -> y:T; T:type" => unary(Unary::Tan);
    /// The hyperbolic tangent.
    Tanh "x:T -> y:T; T:type" => unary(Unary::Tanh).activates(Activates::Matrices);
    /// Whether an element is neither infinite nor NaN.
    IsFinite "x:T -> y:bool; T:type" => test(Test::IsFinite);
    /// Whether an element is infinite.
    IsInf "x:T -> y:bool; T:type" => test(Test::IsInf);
    /// Whether an element is NaN.
    IsNan "x:T -> y:bool; T:type" => test(Test::IsNan);
    /// The argument of a complex number.
    Angle "input:T -> output:Tout; T:type=complex64 Tout:type=float" => part(Part::Angle);
    /// The absolute value of a complex number.
    ComplexAbs "x:T -> y:Tout; T:type=complex64 Tout:type=float" => part(Part::ComplexAbs);
    /// The imaginary part of a complex number.
    Imag "input:T -> output:Tout; T:type=complex64 Tout:type=float" => part(Part::Imag);
    /// The real part of a complex number.
    Real "input:T -> output:Tout; T:type=complex64 Tout:type=float" => part(Part::Real);
    /// The same bytes as elements of another type.
    Bitcast "input:T -> output:type; T:type type:type"
        => function(eval::elementwise::bitcast, rules::bitcast, Cost::Free).no_gradient();
    /// The same values as elements of another type.
    Cast "x:SrcT -> y:DstT; DstT:type SrcT:type Truncate:bool=false"
        => cast().total(ALL).layout("i>i");
    /// The operand, or an error if an element is infinite or NaN.
    CheckNumerics "!tensor:T -> output:T; T:type message:string"
        => impure(eval::elementwise::check_numerics, rules::same, Cost::PerOperand(2));
    /// The operand, or an error that says whether an element is infinite or NaN.
    CheckNumericsV2 "!tensor:T -> output:T; T:type message:string"
        => impure(eval::elementwise::check_numerics, rules::same, Cost::PerOperand(2));
    /// x where x > 0, else alpha * x.
    LeakyRelu "features:T -> activations:T; T:type=float alpha:float=0.2"
        => function(
            eval::elementwise::leaky_relu,
            rules::same,
            Cost::PerResult(2),
        ).total(FLOATS).layout("i>i").activates(Activates::All);
    /// Ones in the shape of the operand.
    OnesLike "x:T -> y:T; T:type"
        => function(eval::shaping::ones_like, rules::same, Cost::Moves).total(NUMBERS).layout("i>i").no_gradient();
    /// The number of bits of an integer that are set.
    PopulationCount "x:T -> y:uint8; T:type"
        => function(eval::elementwise::population_count, rules::same, Cost::PerResult(1)).no_gradient();
    /// Zeros in the shape of the operand; for a list or an optional, one that holds zeros.
    ZerosLike "x:T -> y:T; T:type"
        => function(eval::shaping::zeros_like, rules::same, Cost::Moves).total(NUMBERS).layout("i>i").no_gradient();
    /// The derivative of the exact `_Gelu`.
    _GeluSlope "x:T -> y:T; T:type" => unary(Unary::GeluSlope);
    /// The derivative of the approximate `_Gelu`.
    _GeluTanhSlope "x:T -> y:T; T:type" => unary(Unary::GeluTanhSlope).differentiated(Gradient::Expands);
    /// Several elementwise functions applied one after the other.
    _UnaryOpsComposition "x:T -> y:T; T:type op_names:list(string)"
        => function(eval::elementwise::unary_ops_composition, rules::same, Cost::PerResult(8)).differentiated(Gradient::Expands);
}
