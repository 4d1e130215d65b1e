//! Elementwise functions of several tensors, and the gradients of the unary ones.

use super::super::eval;
use super::super::infer::rules;
use super::super::row::{
    ALL, BOOLS, Cost, FLOATS, Gradient, INTS, NUMBERS, binary, compare, function, select,
};
use super::operators::operators;
use crate::tf::{Binary, Compare};

operators! { 1:
    /// The sum.
    Add "x:T y:T -> z:T; T:type" => binary(Binary::Add).total(NUMBERS).commutative();
    /// The sum.
    AddV2 "x:T y:T -> z:T; T:type" => binary(Binary::Add).total(NUMBERS).commutative();
    /// The angle of the point (x, y), in the right quadrant.
    Atan2 "y:T x:T -> z:T; T:type" => binary(Binary::Atan2);
    /// The bitwise conjunction.
    BitwiseAnd "x:T y:T -> z:T; T:type" => binary(Binary::BitwiseAnd).total(INTS).commutative().no_gradient();
    /// The bitwise disjunction.
    BitwiseOr "x:T y:T -> z:T; T:type" => binary(Binary::BitwiseOr).total(INTS).commutative().no_gradient();
    /// The bitwise exclusive disjunction.
    BitwiseXor "x:T y:T -> z:T; T:type" => binary(Binary::BitwiseXor).total(INTS).commutative().no_gradient();
    /// The quotient; of integers rounded towards zero.
    Div "x:T y:T -> z:T; T:type" => binary(Binary::Div).total(FLOATS);
    /// The quotient, 0 where the divisor is 0.
    DivNoNan "x:T y:T -> z:T; T:type" => binary(Binary::DivNoNan).total(FLOATS);
    /// The quotient rounded down.
    FloorDiv "x:T y:T -> z:T; T:type" => binary(Binary::FloorDiv).no_gradient();
    /// The remainder with the divisor's sign.
    FloorMod "x:T y:T -> z:T; T:type" => binary(Binary::FloorMod);
    /// The regularized lower incomplete gamma function.
    Igamma "a:T x:T -> z:T; T:type" => binary(Binary::Igamma).total(FLOATS);
    /// The regularized upper incomplete gamma function.
    Igammac "a:T x:T -> z:T; T:type" => binary(Binary::Igammac).total(FLOATS);
    /// The derivative of the digamma function, of order a.
    Polygamma "a:T x:T -> z:T; T:type" => binary(Binary::Polygamma).total(FLOATS);
    /// The Hurwitz zeta function.
    Zeta "x:T q:T -> z:T; T:type" => binary(Binary::Zeta).total(FLOATS);
    /// The bits of an integer shifted to the left.
    LeftShift "x:T y:T -> z:T; T:type" => binary(Binary::LeftShift).no_gradient();
    /// The conjunction of truth values.
    LogicalAnd "x:bool y:bool -> z:bool"
        => binary(Binary::LogicalAnd).total(BOOLS).commutative().no_gradient();
    /// The disjunction of truth values.
    LogicalOr "x:bool y:bool -> z:bool" => binary(Binary::LogicalOr).total(BOOLS).commutative().no_gradient();
    /// The larger one; NaN if either is NaN.
    Maximum "x:T y:T -> z:T; T:type" => binary(Binary::Maximum).total(NUMBERS);
    /// The smaller one; NaN if either is NaN.
    Minimum "x:T y:T -> z:T; T:type" => binary(Binary::Minimum).total(NUMBERS);
    /// The remainder with the dividend's sign; an old name of `TruncateMod`.
    Mod "x:T y:T -> z:T; T:type" => binary(Binary::TruncateMod);
    /// The product.
    Mul "x:T y:T -> z:T; T:type" => binary(Binary::Mul).total(NUMBERS).commutative();
    /// The product, 0 where the second factor is 0.
    MulNoNan "x:T y:T -> z:T; T:type" => binary(Binary::MulNoNan);
    /// The power.
    Pow "x:T y:T -> z:T; T:type" => binary(Binary::Pow).total(FLOATS);
    /// The quotient of real or complex numbers.
    RealDiv "x:T y:T -> z:T; T:type" => binary(Binary::RealDiv).total(FLOATS);
    /// The bits of an integer shifted to the right.
    RightShift "x:T y:T -> z:T; T:type" => binary(Binary::RightShift).no_gradient();
    /// (x - y) * conj(x - y).
    SquaredDifference "x:T y:T -> z:T; T:type" => binary(Binary::SquaredDifference).total(FLOATS);
    /// The difference.
    Sub "x:T y:T -> z:T; T:type" => binary(Binary::Sub).total(NUMBERS);
    /// The quotient of integers rounded towards zero.
    TruncateDiv "x:T y:T -> z:T; T:type" => binary(Binary::TruncateDiv).no_gradient();
    /// The remainder with the dividend's sign.
    TruncateMod "x:T y:T -> z:T; T:type" => binary(Binary::TruncateMod);
    /// x / y, 0 where x is 0.
    Xdivy "x:T y:T -> z:T; T:type" => binary(Binary::Xdivy);
    /// x * log(1 + y), 0 where x is 0.
    Xlog1py "x:T y:T -> z:T; T:type" => binary(Binary::Xlog1py);
    /// x * log(y), 0 where x is 0.
    Xlogy "x:T y:T -> z:T; T:type" => binary(Binary::Xlogy);
    /// The gradient of `Elu`, of dy and y.
    EluGrad "gradients:T outputs:T -> backprops:T; T:type" => binary(Binary::EluGrad);
    /// The gradient of `Inv`, of y and dy.
    InvGrad "y:T dy:T -> z:T; T:type" => binary(Binary::ReciprocalGrad);
    /// The gradient of `Reciprocal`, of y and dy.
    ReciprocalGrad "y:T dy:T -> z:T; T:type" => binary(Binary::ReciprocalGrad);
    /// The gradient of `Relu6`, of dy and x or y.
    Relu6Grad "gradients:T features:T -> backprops:T; T:type" => binary(Binary::Relu6Grad);
    /// The gradient of `Relu`, of dy and x or y.
    ReluGrad "gradients:T features:T -> backprops:T; T:type" => binary(Binary::ReluGrad);
    /// The gradient of `Rsqrt`, of y and dy.
    RsqrtGrad "y:T dy:T -> z:T; T:type" => binary(Binary::RsqrtGrad);
    /// The gradient of `Selu`, of dy and y.
    SeluGrad "gradients:T outputs:T -> backprops:T; T:type" => binary(Binary::SeluGrad);
    /// The gradient of `Sigmoid`, of y and dy.
    SigmoidGrad "y:T dy:T -> z:T; T:type" => binary(Binary::SigmoidGrad);
    /// The gradient of `Softplus`, of dy and x.
    SoftplusGrad "gradients:T features:T -> backprops:T; T:type" => binary(Binary::SoftplusGrad);
    /// The gradient of `Softsign`, of dy and x.
    SoftsignGrad "gradients:T features:T -> backprops:T; T:type" => binary(Binary::SoftsignGrad);
    /// The gradient of `Sqrt`, of y and dy.
    SqrtGrad "y:T dy:T -> z:T; T:type" => binary(Binary::SqrtGrad);
    /// The gradient of `Tanh`, of y and dy.
    TanhGrad "y:T dy:T -> z:T; T:type" => binary(Binary::TanhGrad);
    /// Whether elements are equal.
    Equal "x:T y:T -> z:bool; T:type incompatible_shape_error:bool=true"
        => compare(Compare::Equal).commutative();
    /// Whether x > y.
    Greater "x:T y:T -> z:bool; T:type" => compare(Compare::Greater);
    /// Whether x >= y.
    GreaterEqual "x:T y:T -> z:bool; T:type" => compare(Compare::GreaterEqual);
    /// Whether x < y.
    Less "x:T y:T -> z:bool; T:type" => compare(Compare::Less);
    /// Whether x <= y.
    LessEqual "x:T y:T -> z:bool; T:type" => compare(Compare::LessEqual);
    /// Whether elements differ.
    NotEqual "x:T y:T -> z:bool; T:type incompatible_shape_error:bool=true"
        => compare(Compare::NotEqual).commutative();
    /// The sum of any number of tensors of one shape.
    AccumulateNV2 "inputs:N*T -> sum:T; N:int T:type shape:shape"
        => function(eval::elementwise::add_n, rules::all_merged, Cost::PerOperand(1)).layout("i*>i");
    /// The sum of any number of tensors of one shape, or of lists element by element.
    AddN "inputs:N*T -> sum:T; N:int T:type"
        => function(
            eval::elementwise::add_n,
            rules::all_merged,
            Cost::PerOperand(1),
        ).total(NUMBERS).layout("i*>i");
    /// Whether elements differ by less than a tolerance.
    ApproximateEqual "x:T y:T -> z:bool; T:type tolerance:float=1e-05"
        => function(
            eval::elementwise::approximate_equal,
            rules::all_merged,
            Cost::PerResult(3),
        ).layout("bb>i").no_gradient();
    /// Elements limited to lie between two bounds.
    ClipByValue "t:T clip_value_min:T clip_value_max:T -> output:T; T:type"
        => function(eval::elementwise::clip_by_value, rules::same, Cost::PerResult(2)).layout("bbb>i");
    /// Complex numbers of their real and imaginary parts.
    Complex "real:T imag:T -> out:Tout; T:type=float Tout:type=complex64"
        => function(eval::elementwise::complex, rules::broadcasting, Cost::PerResult(1));
    /// The gradient of `LeakyRelu`, of dy and x.
    LeakyReluGrad "gradients:T features:T -> backprops:T; T:type=float alpha:float=0.2"
        => function(eval::elementwise::leaky_relu_grad, rules::all_merged, Cost::PerResult(2)).layout("bb>i");
    /// The next representable number in the direction of another.
    NextAfter "x1:T x2:T -> output:T; T:type=float"
        => function(eval::elementwise::next_after, rules::broadcasting, Cost::PerResult(4));
    /// Elements or rows of two tensors by a condition.
    Select "condition:bool t:T e:T -> output:T; T:type"
        => function(eval::elementwise::select, rules::select, Cost::PerResult(1)).total(ALL).layout("eii>i");
    /// Elements of two tensors by a condition, all of them broadcast.
    SelectV2 "condition:bool t:T e:T -> output:T; T:type"
        => select().total(ALL).layout("bbb>i");
    /// The derivative of Igamma by its first operand.
    IgammaGradA "a:T x:T -> z:T; T:type"
        => binary(Binary::IgammaGradA).differentiated(Gradient::Missing).total(FLOATS);
    /// The derivative of samples of gamma distributions by the distributions' parameters.
    RandomGammaGrad "alpha:T sample:T -> output:T; T:type"
        => binary(Binary::RandomGammaGrad).differentiated(Gradient::Missing).total(FLOATS);
}
