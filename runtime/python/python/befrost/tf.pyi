"""TensorFlow's operators by their names, from the table: written by `stubs.py`."""

import functools as _f
import inspect as _i
import typing as _t

from . import _native as _n

_Dims = _t.Sequence[int] | None

MAX_CACHED: int

def summaries() -> dict[str, str]: ...
def dtype_name(value: _t.Any) -> _t.Any: ...

def safe(name: str) -> str: ...

class OperatorSignature(_t.NamedTuple):
    """The signature of an operator."""

    inputs: list[tuple[str, bool, str | None]]
    outputs: list[tuple[str, bool, str | None]]
    attributes: list[tuple[str, str, str | None]]

class Operator:
    """An operator."""

    name: str
    def __init__(self, name: str) -> None: ...
    @_f.cached_property
    def signature(self) -> OperatorSignature: ...
    @_f.cached_property
    def operand_names(self) -> frozenset[str]: ...
    @property
    def __signature__(self) -> _i.Signature: ...
    def arranged(
        self, operands: tuple[_t.Any, ...], attributes: dict[str, _t.Any]
    ) -> tuple[tuple[_t.Any, ...], dict[str, _t.Any]]: ...
    def packed(self, results: list[_t.Any]) -> _t.Any: ...
    def __call__(self, *operands: _t.Any, **attributes: _t.Any) -> _t.Any: ...

def __dir__() -> list[str]: ...

@_t.type_check_only
class _OpAbs(_t.Protocol):
    """The absolute value; of a complex number see `ComplexAbs`."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Abs: _OpAbs

@_t.type_check_only
class _OpAccumulateNV2(_t.Protocol):
    """The sum of any number of tensors of one shape."""
    def __call__(self, *operands: _t.Any, inputs: _t.Any = ..., shape: _Dims) -> _n.Tensor: ...
AccumulateNV2: _OpAccumulateNV2

@_t.type_check_only
class _OpAcos(_t.Protocol):
    """The inverse cosine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Acos: _OpAcos

@_t.type_check_only
class _OpAcosh(_t.Protocol):
    """The inverse hyperbolic cosine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Acosh: _OpAcosh

@_t.type_check_only
class _OpAdd(_t.Protocol):
    """The sum."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Add: _OpAdd

@_t.type_check_only
class _OpAddN(_t.Protocol):
    """The sum of any number of tensors of one shape, or of lists element by element."""
    def __call__(self, *operands: _t.Any, inputs: _t.Any = ...) -> _n.Tensor: ...
AddN: _OpAddN

@_t.type_check_only
class _OpAddV2(_t.Protocol):
    """The sum."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
AddV2: _OpAddV2

@_t.type_check_only
class _OpAdjustContrastv2(_t.Protocol):
    """Images whose contrast is multiplied by a factor."""
    def __call__(self, images: _t.Any, contrast_factor: _t.Any) -> _n.Tensor: ...
AdjustContrastv2: _OpAdjustContrastv2

@_t.type_check_only
class _OpAdjustHue(_t.Protocol):
    """Images with an angle added to the hue."""
    def __call__(self, images: _t.Any, delta: _t.Any) -> _n.Tensor: ...
AdjustHue: _OpAdjustHue

@_t.type_check_only
class _OpAdjustSaturation(_t.Protocol):
    """Images whose saturation is multiplied by a factor."""
    def __call__(self, images: _t.Any, scale: _t.Any) -> _n.Tensor: ...
AdjustSaturation: _OpAdjustSaturation

@_t.type_check_only
class _OpAll(_t.Protocol):
    """The conjunction along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
All: _OpAll

@_t.type_check_only
class _OpAllCandidateSampler(_t.Protocol):
    """All classes as candidates."""
    def __call__(self, true_classes: _t.Any, *, num_sampled: int, num_true: int, seed: int = ..., seed2: int = ..., unique: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
AllCandidateSampler: _OpAllCandidateSampler

@_t.type_check_only
class _OpAngle(_t.Protocol):
    """The argument of a complex number."""
    def __call__(self, input: _t.Any, *, Tout: _t.Any = ...) -> _n.Tensor: ...
Angle: _OpAngle

@_t.type_check_only
class _OpAnonymousHashTable(_t.Protocol):
    """A new table that is initialized once."""
    def __call__(self, *, key_dtype: _t.Any, value_dtype: _t.Any) -> _n.Tensor: ...
AnonymousHashTable: _OpAnonymousHashTable

@_t.type_check_only
class _OpAnonymousMutableDenseHashTable(_t.Protocol):
    """A new mutable table of tensors. The empty and the deleted key, which mark free slots in TensorFlow, are ordinary keys here."""
    def __call__(self, empty_key: _t.Any, deleted_key: _t.Any, *, initial_num_buckets: int = ..., max_load_factor: float = ..., value_dtype: _t.Any, value_shape: _Dims = ...) -> _n.Tensor: ...
AnonymousMutableDenseHashTable: _OpAnonymousMutableDenseHashTable

@_t.type_check_only
class _OpAnonymousMutableHashTable(_t.Protocol):
    """A new mutable table."""
    def __call__(self, *, key_dtype: _t.Any, value_dtype: _t.Any) -> _n.Tensor: ...
AnonymousMutableHashTable: _OpAnonymousMutableHashTable

@_t.type_check_only
class _OpAnonymousMutableHashTableOfTensors(_t.Protocol):
    """A new mutable table of tensors of one shape."""
    def __call__(self, *, key_dtype: _t.Any, value_dtype: _t.Any, value_shape: _Dims = ...) -> _n.Tensor: ...
AnonymousMutableHashTableOfTensors: _OpAnonymousMutableHashTableOfTensors

@_t.type_check_only
class _OpAny(_t.Protocol):
    """The disjunction along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Any: _OpAny

@_t.type_check_only
class _OpApplyAdaMax(_t.Protocol):
    """A step of AdaMax on a reference variable."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, beta1_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyAdaMax: _OpApplyAdaMax

@_t.type_check_only
class _OpApplyAdadelta(_t.Protocol):
    """A step of Adadelta on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, accum_update: _t.Any, lr: _t.Any, rho: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyAdadelta: _OpApplyAdadelta

@_t.type_check_only
class _OpApplyAdagrad(_t.Protocol):
    """A step of Adagrad on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
ApplyAdagrad: _OpApplyAdagrad

@_t.type_check_only
class _OpApplyAdagradV2(_t.Protocol):
    """A step of Adagrad with an epsilon on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, epsilon: _t.Any, grad: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
ApplyAdagradV2: _OpApplyAdagradV2

@_t.type_check_only
class _OpApplyAdam(_t.Protocol):
    """A step of Adam on a reference variable."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, beta1_power: _t.Any, beta2_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> _n.Tensor: ...
ApplyAdam: _OpApplyAdam

@_t.type_check_only
class _OpApplyAddSign(_t.Protocol):
    """A step of AddSign on a reference variable."""
    def __call__(self, var: _t.Any, m: _t.Any, lr: _t.Any, alpha: _t.Any, sign_decay: _t.Any, beta: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyAddSign: _OpApplyAddSign

@_t.type_check_only
class _OpApplyCenteredRMSProp(_t.Protocol):
    """A step of centered RMSProp on a reference variable."""
    def __call__(self, var: _t.Any, mg: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyCenteredRMSProp: _OpApplyCenteredRMSProp

@_t.type_check_only
class _OpApplyFtrl(_t.Protocol):
    """A step of FTRL on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
ApplyFtrl: _OpApplyFtrl

@_t.type_check_only
class _OpApplyFtrlV2(_t.Protocol):
    """A step of FTRL with shrinkage on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, l2_shrinkage: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
ApplyFtrlV2: _OpApplyFtrlV2

@_t.type_check_only
class _OpApplyGradientDescent(_t.Protocol):
    """A step of gradient descent on a reference variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, delta: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyGradientDescent: _OpApplyGradientDescent

@_t.type_check_only
class _OpApplyMomentum(_t.Protocol):
    """A step of gradient descent with momentum on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> _n.Tensor: ...
ApplyMomentum: _OpApplyMomentum

@_t.type_check_only
class _OpApplyPowerSign(_t.Protocol):
    """A step of PowerSign on a reference variable."""
    def __call__(self, var: _t.Any, m: _t.Any, lr: _t.Any, logbase: _t.Any, sign_decay: _t.Any, beta: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyPowerSign: _OpApplyPowerSign

@_t.type_check_only
class _OpApplyProximalAdagrad(_t.Protocol):
    """A step of proximal Adagrad on a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyProximalAdagrad: _OpApplyProximalAdagrad

@_t.type_check_only
class _OpApplyProximalGradientDescent(_t.Protocol):
    """A step of proximal gradient descent on a reference variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, l1: _t.Any, l2: _t.Any, delta: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyProximalGradientDescent: _OpApplyProximalGradientDescent

@_t.type_check_only
class _OpApplyRMSProp(_t.Protocol):
    """A step of RMSProp on a reference variable."""
    def __call__(self, var: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ApplyRMSProp: _OpApplyRMSProp

@_t.type_check_only
class _OpApproximateEqual(_t.Protocol):
    """Whether elements differ by less than a tolerance."""
    def __call__(self, x: _t.Any, y: _t.Any, *, tolerance: float = ...) -> _n.Tensor: ...
ApproximateEqual: _OpApproximateEqual

@_t.type_check_only
class _OpArgMax(_t.Protocol):
    """The index of the largest element along an axis."""
    def __call__(self, input: _t.Any, dimension: _t.Any, *, output_type: _t.Any = ...) -> _n.Tensor: ...
ArgMax: _OpArgMax

@_t.type_check_only
class _OpArgMin(_t.Protocol):
    """The index of the smallest element along an axis."""
    def __call__(self, input: _t.Any, dimension: _t.Any, *, output_type: _t.Any = ...) -> _n.Tensor: ...
ArgMin: _OpArgMin

@_t.type_check_only
class _OpAsString(_t.Protocol):
    """Numbers written as strings."""
    def __call__(self, input: _t.Any, *, fill: str = ..., precision: int = ..., scientific: bool = ..., shortest: bool = ..., width: int = ...) -> _n.Tensor: ...
AsString: _OpAsString

@_t.type_check_only
class _OpAsin(_t.Protocol):
    """The inverse sine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Asin: _OpAsin

@_t.type_check_only
class _OpAsinh(_t.Protocol):
    """The inverse hyperbolic sine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Asinh: _OpAsinh

@_t.type_check_only
class _OpAssert(_t.Protocol):
    """An error with a message of values, unless a condition holds."""
    def __call__(self, *operands: _t.Any, condition: _t.Any = ..., data: _t.Any = ..., summarize: int = ...) -> tuple[()]: ...
Assert: _OpAssert

@_t.type_check_only
class _OpAssign(_t.Protocol):
    """The value of a reference variable set."""
    def __call__(self, ref: _t.Any, value: _t.Any, *, use_locking: bool = ..., validate_shape: bool = ...) -> _n.Tensor: ...
Assign: _OpAssign

@_t.type_check_only
class _OpAssignAdd(_t.Protocol):
    """A value added to a reference variable."""
    def __call__(self, ref: _t.Any, value: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
AssignAdd: _OpAssignAdd

@_t.type_check_only
class _OpAssignAddVariableOp(_t.Protocol):
    """A value added to a variable."""
    def __call__(self, resource: _t.Any, value: _t.Any) -> tuple[()]: ...
AssignAddVariableOp: _OpAssignAddVariableOp

@_t.type_check_only
class _OpAssignSub(_t.Protocol):
    """A value subtracted from a reference variable."""
    def __call__(self, ref: _t.Any, value: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
AssignSub: _OpAssignSub

@_t.type_check_only
class _OpAssignSubVariableOp(_t.Protocol):
    """A value subtracted from a variable."""
    def __call__(self, resource: _t.Any, value: _t.Any) -> tuple[()]: ...
AssignSubVariableOp: _OpAssignSubVariableOp

@_t.type_check_only
class _OpAssignVariableOp(_t.Protocol):
    """The value of a variable set."""
    def __call__(self, resource: _t.Any, value: _t.Any, *, validate_shape: bool = ...) -> tuple[()]: ...
AssignVariableOp: _OpAssignVariableOp

@_t.type_check_only
class _OpAtan(_t.Protocol):
    """The inverse tangent."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Atan: _OpAtan

@_t.type_check_only
class _OpAtan2(_t.Protocol):
    """The angle of the point (x, y), in the right quadrant."""
    def __call__(self, y: _t.Any, x: _t.Any) -> _n.Tensor: ...
Atan2: _OpAtan2

@_t.type_check_only
class _OpAtanh(_t.Protocol):
    """The inverse hyperbolic tangent."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Atanh: _OpAtanh

@_t.type_check_only
class _OpAvgPool(_t.Protocol):
    """The mean of each window of an image."""
    def __call__(self, value: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
AvgPool: _OpAvgPool

@_t.type_check_only
class _OpAvgPool3D(_t.Protocol):
    """The mean of each window of a volume."""
    def __call__(self, input: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
AvgPool3D: _OpAvgPool3D

@_t.type_check_only
class _OpAvgPool3DGrad(_t.Protocol):
    """The gradient of `AvgPool3D`."""
    def __call__(self, orig_input_shape: _t.Any, grad: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
AvgPool3DGrad: _OpAvgPool3DGrad

@_t.type_check_only
class _OpAvgPoolGrad(_t.Protocol):
    """The gradient of `AvgPool`."""
    def __call__(self, orig_input_shape: _t.Any, grad: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
AvgPoolGrad: _OpAvgPoolGrad

@_t.type_check_only
class _OpBandedTriangularSolve(_t.Protocol):
    """The solutions of systems of linear equations with the bands of triangular matrices."""
    def __call__(self, matrix: _t.Any, rhs: _t.Any, *, adjoint: bool = ..., lower: bool = ...) -> _n.Tensor: ...
BandedTriangularSolve: _OpBandedTriangularSolve

@_t.type_check_only
class _OpBatchMatMul(_t.Protocol):
    """The products of matrices, batch by batch."""
    def __call__(self, x: _t.Any, y: _t.Any, *, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ...) -> _n.Tensor: ...
BatchMatMul: _OpBatchMatMul

@_t.type_check_only
class _OpBatchMatMulV2(_t.Protocol):
    """The products of matrices, with batches that broadcast."""
    def __call__(self, x: _t.Any, y: _t.Any, *, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ...) -> _n.Tensor: ...
BatchMatMulV2: _OpBatchMatMulV2

@_t.type_check_only
class _OpBatchMatMulV3(_t.Protocol):
    """The products of matrices, with batches that broadcast and a result of another type."""
    def __call__(self, x: _t.Any, y: _t.Any, *, Tout: _t.Any, adj_x: bool = ..., adj_y: bool = ..., grad_x: bool = ..., grad_y: bool = ...) -> _n.Tensor: ...
BatchMatMulV3: _OpBatchMatMulV3

@_t.type_check_only
class _OpBatchMatrixBandPart(_t.Protocol):
    """Matrices with zeros outside of a band of diagonals."""
    def __call__(self, input: _t.Any, num_lower: _t.Any, num_upper: _t.Any) -> _n.Tensor: ...
BatchMatrixBandPart: _OpBatchMatrixBandPart

@_t.type_check_only
class _OpBatchNormWithGlobalNormalization(_t.Protocol):
    """Images normalized by mean, variance, offset and factor of each channel: the operator of early models."""
    def __call__(self, t: _t.Any, m: _t.Any, v: _t.Any, beta: _t.Any, gamma: _t.Any, *, scale_after_normalization: bool, variance_epsilon: float) -> _n.Tensor: ...
BatchNormWithGlobalNormalization: _OpBatchNormWithGlobalNormalization

@_t.type_check_only
class _OpBatchToSpace(_t.Protocol):
    """Blocks of the batch moved into height and width; the inverse of `SpaceToBatch`."""
    def __call__(self, input: _t.Any, crops: _t.Any, *, block_size: int) -> _n.Tensor: ...
BatchToSpace: _OpBatchToSpace

@_t.type_check_only
class _OpBatchToSpaceND(_t.Protocol):
    """Blocks of the batch moved into spatial axes; the inverse of `SpaceToBatchND`."""
    def __call__(self, input: _t.Any, block_shape: _t.Any, crops: _t.Any) -> _n.Tensor: ...
BatchToSpaceND: _OpBatchToSpaceND

@_t.type_check_only
class _OpBesselI0(_t.Protocol):
    """The modified Bessel function of order 0."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselI0: _OpBesselI0

@_t.type_check_only
class _OpBesselI0e(_t.Protocol):
    """The modified Bessel function of order 0, times exp(-abs(x))."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselI0e: _OpBesselI0e

@_t.type_check_only
class _OpBesselI1(_t.Protocol):
    """The modified Bessel function of order 1."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselI1: _OpBesselI1

@_t.type_check_only
class _OpBesselI1e(_t.Protocol):
    """The modified Bessel function of order 1, times exp(-abs(x))."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselI1e: _OpBesselI1e

@_t.type_check_only
class _OpBesselJ0(_t.Protocol):
    """The Bessel function of the first kind of order 0."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselJ0: _OpBesselJ0

@_t.type_check_only
class _OpBesselJ1(_t.Protocol):
    """The Bessel function of the first kind of order 1."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselJ1: _OpBesselJ1

@_t.type_check_only
class _OpBesselK0(_t.Protocol):
    """The modified Bessel function of the second kind of order 0."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselK0: _OpBesselK0

@_t.type_check_only
class _OpBesselK0e(_t.Protocol):
    """The modified Bessel function of the second kind of order 0, times exp(x)."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselK0e: _OpBesselK0e

@_t.type_check_only
class _OpBesselK1(_t.Protocol):
    """The modified Bessel function of the second kind of order 1."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselK1: _OpBesselK1

@_t.type_check_only
class _OpBesselK1e(_t.Protocol):
    """The modified Bessel function of the second kind of order 1, times exp(x)."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselK1e: _OpBesselK1e

@_t.type_check_only
class _OpBesselY0(_t.Protocol):
    """The Bessel function of the second kind of order 0."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselY0: _OpBesselY0

@_t.type_check_only
class _OpBesselY1(_t.Protocol):
    """The Bessel function of the second kind of order 1."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
BesselY1: _OpBesselY1

@_t.type_check_only
class _OpBetainc(_t.Protocol):
    """The regularized incomplete beta function."""
    def __call__(self, a: _t.Any, b: _t.Any, x: _t.Any) -> _n.Tensor: ...
Betainc: _OpBetainc

@_t.type_check_only
class _OpBiasAdd(_t.Protocol):
    """A vector added along the channels."""
    def __call__(self, value: _t.Any, bias: _t.Any, *, data_format: str = ...) -> _n.Tensor: ...
BiasAdd: _OpBiasAdd

@_t.type_check_only
class _OpBiasAddGrad(_t.Protocol):
    """The gradient of `BiasAdd` for the vector."""
    def __call__(self, out_backprop: _t.Any, *, data_format: str = ...) -> _n.Tensor: ...
BiasAddGrad: _OpBiasAddGrad

@_t.type_check_only
class _OpBiasAddV1(_t.Protocol):
    """A vector added along the last axis."""
    def __call__(self, value: _t.Any, bias: _t.Any) -> _n.Tensor: ...
BiasAddV1: _OpBiasAddV1

@_t.type_check_only
class _OpBincount(_t.Protocol):
    """The number of occurrences, or the sum of weights, of each small integer."""
    def __call__(self, arr: _t.Any, size: _t.Any, weights: _t.Any) -> _n.Tensor: ...
Bincount: _OpBincount

@_t.type_check_only
class _OpBitcast(_t.Protocol):
    """The same bytes as elements of another type."""
    def __call__(self, input: _t.Any, *, type: _t.Any) -> _n.Tensor: ...
Bitcast: _OpBitcast

@_t.type_check_only
class _OpBitwiseAnd(_t.Protocol):
    """The bitwise conjunction."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
BitwiseAnd: _OpBitwiseAnd

@_t.type_check_only
class _OpBitwiseOr(_t.Protocol):
    """The bitwise disjunction."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
BitwiseOr: _OpBitwiseOr

@_t.type_check_only
class _OpBitwiseXor(_t.Protocol):
    """The bitwise exclusive disjunction."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
BitwiseXor: _OpBitwiseXor

@_t.type_check_only
class _OpBlockLSTM(_t.Protocol):
    """Long short-term memories over sequences."""
    def __call__(self, seq_len_max: _t.Any, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, *, cell_clip: float = ..., forget_bias: float = ..., use_peephole: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
BlockLSTM: _OpBlockLSTM

@_t.type_check_only
class _OpBlockLSTMGrad(_t.Protocol):
    """The gradient of `BlockLSTM`."""
    def __call__(self, seq_len_max: _t.Any, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, i: _t.Any, cs: _t.Any, f: _t.Any, o: _t.Any, ci: _t.Any, co: _t.Any, h: _t.Any, cs_grad: _t.Any, h_grad: _t.Any, *, use_peephole: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
BlockLSTMGrad: _OpBlockLSTMGrad

@_t.type_check_only
class _OpBlockLSTMGradV2(_t.Protocol):
    """The gradient of `BlockLSTMV2`."""
    def __call__(self, seq_len_max: _t.Any, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, i: _t.Any, cs: _t.Any, f: _t.Any, o: _t.Any, ci: _t.Any, co: _t.Any, h: _t.Any, cs_grad: _t.Any, h_grad: _t.Any, *, use_peephole: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
BlockLSTMGradV2: _OpBlockLSTMGradV2

@_t.type_check_only
class _OpBlockLSTMV2(_t.Protocol):
    """`BlockLSTM` with gates in another order, without a bias of the forget gate."""
    def __call__(self, seq_len_max: _t.Any, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, *, cell_clip: float = ..., use_peephole: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
BlockLSTMV2: _OpBlockLSTMV2

@_t.type_check_only
class _OpBroadcastArgs(_t.Protocol):
    """The shape that two shapes broadcast to."""
    def __call__(self, s0: _t.Any, s1: _t.Any) -> _n.Tensor: ...
BroadcastArgs: _OpBroadcastArgs

@_t.type_check_only
class _OpBroadcastGradientArgs(_t.Protocol):
    """For two shapes that broadcast, the axes along which the gradient of each is summed."""
    def __call__(self, s0: _t.Any, s1: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
BroadcastGradientArgs: _OpBroadcastGradientArgs

@_t.type_check_only
class _OpBroadcastTo(_t.Protocol):
    """The operand broadcast to a shape."""
    def __call__(self, input: _t.Any, shape: _t.Any) -> _n.Tensor: ...
BroadcastTo: _OpBroadcastTo

@_t.type_check_only
class _OpBucketize(_t.Protocol):
    """For each element, the number of boundaries that are not above it."""
    def __call__(self, input: _t.Any, *, boundaries: _t.Sequence[float]) -> _n.Tensor: ...
Bucketize: _OpBucketize

@_t.type_check_only
class _OpCTCBeamSearchDecoder(_t.Protocol):
    """The most probable sequences of labels of classes over time, by a search with a beam."""
    def __call__(self, inputs: _t.Any, sequence_length: _t.Any, *, beam_width: int, merge_repeated: bool = ..., top_paths: int) -> _t.Any: ...
CTCBeamSearchDecoder: _OpCTCBeamSearchDecoder

@_t.type_check_only
class _OpCTCGreedyDecoder(_t.Protocol):
    """The labels of the most probable classes over time."""
    def __call__(self, inputs: _t.Any, sequence_length: _t.Any, *, blank_index: int = ..., merge_repeated: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
CTCGreedyDecoder: _OpCTCGreedyDecoder

@_t.type_check_only
class _OpCTCLoss(_t.Protocol):
    """The negative logarithms of the probabilities of sequences of labels, and their gradients."""
    def __call__(self, inputs: _t.Any, labels_indices: _t.Any, labels_values: _t.Any, sequence_length: _t.Any, *, ctc_merge_repeated: bool = ..., ignore_longer_outputs_than_inputs: bool = ..., preprocess_collapse_repeated: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
CTCLoss: _OpCTCLoss

@_t.type_check_only
class _OpCTCLossV2(_t.Protocol):
    """The negative logarithms of the probabilities of sequences of labels, whose blank label is 0, and their gradients."""
    def __call__(self, inputs: _t.Any, labels_indices: _t.Any, labels_values: _t.Any, sequence_length: _t.Any, *, ctc_merge_repeated: bool = ..., ignore_longer_outputs_than_inputs: bool = ..., preprocess_collapse_repeated: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
CTCLossV2: _OpCTCLossV2

@_t.type_check_only
class _OpCase(_t.Protocol):
    """The call of one of several functions, by number."""
    def __call__(self, *operands: _t.Any, branch_index: _t.Any = ..., input: _t.Any = ..., Tout: _t.Sequence[_t.Any], branches: _t.Sequence[_t.Any], output_shapes: _t.Sequence[_Dims] = ...) -> _t.Any: ...
Case: _OpCase

@_t.type_check_only
class _OpCast(_t.Protocol):
    """The same values as elements of another type."""
    def __call__(self, x: _t.Any, *, DstT: _t.Any, Truncate: bool = ...) -> _n.Tensor: ...
Cast: _OpCast

@_t.type_check_only
class _OpCeil(_t.Protocol):
    """The smallest integer that is not less than x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Ceil: _OpCeil

@_t.type_check_only
class _OpCheckNumerics(_t.Protocol):
    """The operand, or an error if an element is infinite or NaN."""
    def __call__(self, tensor: _t.Any, *, message: str) -> _n.Tensor: ...
CheckNumerics: _OpCheckNumerics

@_t.type_check_only
class _OpCheckNumericsV2(_t.Protocol):
    """The operand, or an error that says whether an element is infinite or NaN."""
    def __call__(self, tensor: _t.Any, *, message: str) -> _n.Tensor: ...
CheckNumericsV2: _OpCheckNumericsV2

@_t.type_check_only
class _OpCholesky(_t.Protocol):
    """The lower triangular factors of positive definite matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Cholesky: _OpCholesky

@_t.type_check_only
class _OpCholeskyGrad(_t.Protocol):
    """The gradient of `Cholesky`, symmetric."""
    def __call__(self, l: _t.Any, grad: _t.Any) -> _n.Tensor: ...
CholeskyGrad: _OpCholeskyGrad

@_t.type_check_only
class _OpClipByValue(_t.Protocol):
    """Elements limited to lie between two bounds."""
    def __call__(self, t: _t.Any, clip_value_min: _t.Any, clip_value_max: _t.Any) -> _n.Tensor: ...
ClipByValue: _OpClipByValue

@_t.type_check_only
class _OpCollectiveBcastRecv(_t.Protocol):
    """The value that the sender of a group gives to all its members."""
    def __call__(self, *, T: _t.Any, communication_hint: str = ..., group_key: int, group_size: int, instance_key: int, shape: _Dims, timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveBcastRecv: _OpCollectiveBcastRecv

@_t.type_check_only
class _OpCollectiveBcastRecvV2(_t.Protocol):
    """The value that the sender of a group gives to all its members, by keys that are operands."""
    def __call__(self, group_size: _t.Any, group_key: _t.Any, instance_key: _t.Any, shape: _t.Any, *, T: _t.Any, communication_hint: str = ..., timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveBcastRecvV2: _OpCollectiveBcastRecvV2

@_t.type_check_only
class _OpCollectiveBcastSend(_t.Protocol):
    """A value for all members of a group."""
    def __call__(self, input: _t.Any, *, communication_hint: str = ..., group_key: int, group_size: int, instance_key: int, shape: _Dims, timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveBcastSend: _OpCollectiveBcastSend

@_t.type_check_only
class _OpCollectiveBcastSendV2(_t.Protocol):
    """A value for all members of a group, by keys that are operands."""
    def __call__(self, input: _t.Any, group_size: _t.Any, group_key: _t.Any, instance_key: _t.Any, *, communication_hint: str = ..., timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveBcastSendV2: _OpCollectiveBcastSendV2

@_t.type_check_only
class _OpCollectiveGather(_t.Protocol):
    """All members' operands, one behind the other."""
    def __call__(self, input: _t.Any, *, communication_hint: str = ..., group_key: int, group_size: int, instance_key: int, shape: _Dims, timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveGather: _OpCollectiveGather

@_t.type_check_only
class _OpCollectiveGatherV2(_t.Protocol):
    """All members' operands, one behind the other, by keys that are operands."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., group_size: _t.Any = ..., group_key: _t.Any = ..., instance_key: _t.Any = ..., ordering_token: _t.Any = ..., communication_hint: str = ..., is_stateless: bool = ..., timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveGatherV2: _OpCollectiveGatherV2

@_t.type_check_only
class _OpCollectiveReduce(_t.Protocol):
    """The reduction of all members' operands."""
    def __call__(self, input: _t.Any, *, communication_hint: str = ..., final_op: str, group_key: int, group_size: int, instance_key: int, merge_op: str, subdiv_offsets: _t.Sequence[int], timeout_seconds: float = ..., wait_for: _t.Sequence[int] = ...) -> _n.Tensor: ...
CollectiveReduce: _OpCollectiveReduce

@_t.type_check_only
class _OpCollectiveReduceV2(_t.Protocol):
    """The reduction of all members' operands, by keys that are operands."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., group_size: _t.Any = ..., group_key: _t.Any = ..., instance_key: _t.Any = ..., ordering_token: _t.Any = ..., communication_hint: str = ..., final_op: str, is_stateless: bool = ..., max_subdivs_per_device: int = ..., merge_op: str, timeout_seconds: float = ...) -> _n.Tensor: ...
CollectiveReduceV2: _OpCollectiveReduceV2

@_t.type_check_only
class _OpCombinedNonMaxSuppression(_t.Protocol):
    """For each image, the boxes of each class that do not overlap a selected box of a higher score."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size_per_class: _t.Any, max_total_size: _t.Any, iou_threshold: _t.Any, score_threshold: _t.Any, *, clip_boxes: bool = ..., pad_per_class: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
CombinedNonMaxSuppression: _OpCombinedNonMaxSuppression

@_t.type_check_only
class _OpComplex(_t.Protocol):
    """Complex numbers of their real and imaginary parts."""
    def __call__(self, real: _t.Any, imag: _t.Any, *, Tout: _t.Any = ...) -> _n.Tensor: ...
Complex: _OpComplex

@_t.type_check_only
class _OpComplexAbs(_t.Protocol):
    """The absolute value of a complex number."""
    def __call__(self, x: _t.Any, *, Tout: _t.Any = ...) -> _n.Tensor: ...
ComplexAbs: _OpComplexAbs

@_t.type_check_only
class _OpComputeAccidentalHits(_t.Protocol):
    """The candidates that are true classes."""
    def __call__(self, true_classes: _t.Any, sampled_candidates: _t.Any, *, num_true: int, seed: int = ..., seed2: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
ComputeAccidentalHits: _OpComputeAccidentalHits

@_t.type_check_only
class _OpConcat(_t.Protocol):
    """Tensors joined along an axis, which is the first operand."""
    def __call__(self, *operands: _t.Any, concat_dim: _t.Any = ..., values: _t.Any = ...) -> _n.Tensor: ...
Concat: _OpConcat

@_t.type_check_only
class _OpConcatOffset(_t.Protocol):
    """For each shape, the start of its tensor in the concatenation."""
    def __call__(self, *operands: _t.Any, concat_dim: _t.Any = ..., shape: _t.Any = ...) -> _t.Any: ...
ConcatOffset: _OpConcatOffset

@_t.type_check_only
class _OpConcatV2(_t.Protocol):
    """Tensors joined along an axis, which is the last operand."""
    def __call__(self, *operands: _t.Any, values: _t.Any = ..., axis: _t.Any = ...) -> _n.Tensor: ...
ConcatV2: _OpConcatV2

@_t.type_check_only
class _OpConj(_t.Protocol):
    """The complex conjugate."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Conj: _OpConj

@_t.type_check_only
class _OpConjugateTranspose(_t.Protocol):
    """The axes permuted, and elements conjugated."""
    def __call__(self, x: _t.Any, perm: _t.Any) -> _n.Tensor: ...
ConjugateTranspose: _OpConjugateTranspose

@_t.type_check_only
class _OpConst(_t.Protocol):
    """A constant."""
    def __call__(self, *, dtype: _t.Any, value: _t.Any) -> _n.Tensor: ...
Const: _OpConst

@_t.type_check_only
class _OpConv2D(_t.Protocol):
    """The convolution of images with filters."""
    def __call__(self, input: _t.Any, filter: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int], use_cudnn_on_gpu: bool = ...) -> _n.Tensor: ...
Conv2D: _OpConv2D

@_t.type_check_only
class _OpConv2DBackpropFilter(_t.Protocol):
    """The gradient of `Conv2D` for the filters."""
    def __call__(self, input: _t.Any, filter_sizes: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int], use_cudnn_on_gpu: bool = ...) -> _n.Tensor: ...
Conv2DBackpropFilter: _OpConv2DBackpropFilter

@_t.type_check_only
class _OpConv2DBackpropInput(_t.Protocol):
    """The gradient of `Conv2D` for the images; a transposed convolution."""
    def __call__(self, input_sizes: _t.Any, filter: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int], use_cudnn_on_gpu: bool = ...) -> _n.Tensor: ...
Conv2DBackpropInput: _OpConv2DBackpropInput

@_t.type_check_only
class _OpConv3D(_t.Protocol):
    """The convolution of volumes with filters."""
    def __call__(self, input: _t.Any, filter: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
Conv3D: _OpConv3D

@_t.type_check_only
class _OpConv3DBackpropFilterV2(_t.Protocol):
    """The gradient of `Conv3D` for the filters."""
    def __call__(self, input: _t.Any, filter_sizes: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
Conv3DBackpropFilterV2: _OpConv3DBackpropFilterV2

@_t.type_check_only
class _OpConv3DBackpropInputV2(_t.Protocol):
    """The gradient of `Conv3D` for the volumes; a transposed convolution."""
    def __call__(self, input_sizes: _t.Any, filter: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
Conv3DBackpropInputV2: _OpConv3DBackpropInputV2

@_t.type_check_only
class _OpCos(_t.Protocol):
    """The cosine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Cos: _OpCos

@_t.type_check_only
class _OpCosh(_t.Protocol):
    """The hyperbolic cosine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Cosh: _OpCosh

@_t.type_check_only
class _OpCountUpTo(_t.Protocol):
    """A reference variable counted up to a limit."""
    def __call__(self, ref: _t.Any, *, limit: int) -> _n.Tensor: ...
CountUpTo: _OpCountUpTo

@_t.type_check_only
class _OpCropAndResize(_t.Protocol):
    """Boxes of images, resampled to a fixed size."""
    def __call__(self, image: _t.Any, boxes: _t.Any, box_ind: _t.Any, crop_size: _t.Any, *, extrapolation_value: float = ..., method: str = ...) -> _n.Tensor: ...
CropAndResize: _OpCropAndResize

@_t.type_check_only
class _OpCropAndResizeGradBoxes(_t.Protocol):
    """The gradient of `CropAndResize` for the boxes."""
    def __call__(self, grads: _t.Any, image: _t.Any, boxes: _t.Any, box_ind: _t.Any, *, method: str = ...) -> _n.Tensor: ...
CropAndResizeGradBoxes: _OpCropAndResizeGradBoxes

@_t.type_check_only
class _OpCropAndResizeGradImage(_t.Protocol):
    """The gradient of `CropAndResize` for the images."""
    def __call__(self, grads: _t.Any, boxes: _t.Any, box_ind: _t.Any, image_size: _t.Any, *, T: _t.Any, method: str = ...) -> _n.Tensor: ...
CropAndResizeGradImage: _OpCropAndResizeGradImage

@_t.type_check_only
class _OpCross(_t.Protocol):
    """The cross products of vectors of three numbers."""
    def __call__(self, a: _t.Any, b: _t.Any) -> _n.Tensor: ...
Cross: _OpCross

@_t.type_check_only
class _OpCumprod(_t.Protocol):
    """The running product along an axis."""
    def __call__(self, x: _t.Any, axis: _t.Any, *, exclusive: bool = ..., reverse: bool = ...) -> _n.Tensor: ...
Cumprod: _OpCumprod

@_t.type_check_only
class _OpCumsum(_t.Protocol):
    """The running sum along an axis."""
    def __call__(self, x: _t.Any, axis: _t.Any, *, exclusive: bool = ..., reverse: bool = ...) -> _n.Tensor: ...
Cumsum: _OpCumsum

@_t.type_check_only
class _OpCumulativeLogsumexp(_t.Protocol):
    """The logarithm of the running sum of exponentials along an axis."""
    def __call__(self, x: _t.Any, axis: _t.Any, *, exclusive: bool = ..., reverse: bool = ...) -> _n.Tensor: ...
CumulativeLogsumexp: _OpCumulativeLogsumexp

@_t.type_check_only
class _OpDataFormatDimMap(_t.Protocol):
    """The axes of a data format, numbered as in another one."""
    def __call__(self, x: _t.Any, *, dst_format: str = ..., src_format: str = ...) -> _n.Tensor: ...
DataFormatDimMap: _OpDataFormatDimMap

@_t.type_check_only
class _OpDataFormatVecPermute(_t.Protocol):
    """The numbers of the axes of a data format, in the order of another one."""
    def __call__(self, x: _t.Any, *, dst_format: str = ..., src_format: str = ...) -> _n.Tensor: ...
DataFormatVecPermute: _OpDataFormatVecPermute

@_t.type_check_only
class _OpDawsn(_t.Protocol):
    """Dawson's integral."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Dawsn: _OpDawsn

@_t.type_check_only
class _OpDecodeAndCropJpeg(_t.Protocol):
    """The samples of a window of a JPEG or PNG."""
    def __call__(self, contents: _t.Any, crop_window: _t.Any, *, acceptable_fraction: float = ..., channels: int = ..., dct_method: str = ..., fancy_upscaling: bool = ..., ratio: int = ..., try_recover_truncated: bool = ...) -> _n.Tensor: ...
DecodeAndCropJpeg: _OpDecodeAndCropJpeg

@_t.type_check_only
class _OpDecodeBase64(_t.Protocol):
    """Strings that base64 stands for, in the alphabet for addresses of the web."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
DecodeBase64: _OpDecodeBase64

@_t.type_check_only
class _OpDecodeBmp(_t.Protocol):
    """The samples of a BMP."""
    def __call__(self, contents: _t.Any, *, channels: int = ...) -> _n.Tensor: ...
DecodeBmp: _OpDecodeBmp

@_t.type_check_only
class _OpDecodeCSV(_t.Protocol):
    """The columns of records of separated values."""
    def __call__(self, *operands: _t.Any, records: _t.Any = ..., record_defaults: _t.Any = ..., field_delim: str = ..., na_value: str = ..., select_cols: _t.Sequence[int] = ..., use_quote_delim: bool = ...) -> _t.Any: ...
DecodeCSV: _OpDecodeCSV

@_t.type_check_only
class _OpDecodeCompressed(_t.Protocol):
    """Strings decompressed."""
    def __call__(self, bytes: _t.Any, *, compression_type: str = ...) -> _n.Tensor: ...
DecodeCompressed: _OpDecodeCompressed

@_t.type_check_only
class _OpDecodeImage(_t.Protocol):
    """The samples of a PNG, JPEG or BMP, in another type if wanted."""
    def __call__(self, contents: _t.Any, *, channels: int = ..., dtype: _t.Any = ..., expand_animations: bool = ...) -> _n.Tensor: ...
DecodeImage: _OpDecodeImage

@_t.type_check_only
class _OpDecodeJpeg(_t.Protocol):
    """The samples of a JPEG or PNG."""
    def __call__(self, contents: _t.Any, *, acceptable_fraction: float = ..., channels: int = ..., dct_method: str = ..., fancy_upscaling: bool = ..., ratio: int = ..., try_recover_truncated: bool = ...) -> _n.Tensor: ...
DecodeJpeg: _OpDecodeJpeg

@_t.type_check_only
class _OpDecodePaddedRaw(_t.Protocol):
    """The first bytes of strings, padded with zeros, as numbers."""
    def __call__(self, input_bytes: _t.Any, fixed_length: _t.Any, *, little_endian: bool = ..., out_type: _t.Any) -> _n.Tensor: ...
DecodePaddedRaw: _OpDecodePaddedRaw

@_t.type_check_only
class _OpDecodePng(_t.Protocol):
    """The samples of a PNG or JPEG."""
    def __call__(self, contents: _t.Any, *, channels: int = ..., dtype: _t.Any = ...) -> _n.Tensor: ...
DecodePng: _OpDecodePng

@_t.type_check_only
class _OpDecodeRaw(_t.Protocol):
    """The bytes of strings as numbers."""
    def __call__(self, bytes: _t.Any, *, little_endian: bool = ..., out_type: _t.Any) -> _n.Tensor: ...
DecodeRaw: _OpDecodeRaw

@_t.type_check_only
class _OpDeepCopy(_t.Protocol):
    """The operand: values do not change, so there is nothing to copy."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
DeepCopy: _OpDeepCopy

@_t.type_check_only
class _OpDenseBincount(_t.Protocol):
    """For each row, the number of occurrences, or the sum of weights, of each small integer."""
    def __call__(self, input: _t.Any, size: _t.Any, weights: _t.Any, *, binary_output: bool = ...) -> _n.Tensor: ...
DenseBincount: _OpDenseBincount

@_t.type_check_only
class _OpDenseCountSparseOutput(_t.Protocol):
    """How often each value occurs in its row, as a sparse tensor."""
    def __call__(self, values: _t.Any, weights: _t.Any, *, binary_output: bool, maxlength: int = ..., minlength: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
DenseCountSparseOutput: _OpDenseCountSparseOutput

@_t.type_check_only
class _OpDenseToDenseSetOperation(_t.Protocol):
    """An operation on the sets along the last axis of dense tensors, with sparse results."""
    def __call__(self, set1: _t.Any, set2: _t.Any, *, set_operation: str, validate_indices: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
DenseToDenseSetOperation: _OpDenseToDenseSetOperation

@_t.type_check_only
class _OpDenseToSparseSetOperation(_t.Protocol):
    """An operation on the sets along the last axis of a dense and a sparse tensor, with sparse results."""
    def __call__(self, set1: _t.Any, set2_indices: _t.Any, set2_values: _t.Any, set2_shape: _t.Any, *, set_operation: str, validate_indices: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
DenseToSparseSetOperation: _OpDenseToSparseSetOperation

@_t.type_check_only
class _OpDepthToSpace(_t.Protocol):
    """Blocks of channels moved into height and width."""
    def __call__(self, input: _t.Any, *, block_size: int, data_format: str = ...) -> _n.Tensor: ...
DepthToSpace: _OpDepthToSpace

@_t.type_check_only
class _OpDepthwiseConv2dNative(_t.Protocol):
    """The convolution of each channel with its own filters."""
    def __call__(self, input: _t.Any, filter: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
DepthwiseConv2dNative: _OpDepthwiseConv2dNative

@_t.type_check_only
class _OpDepthwiseConv2dNativeBackpropFilter(_t.Protocol):
    """The gradient of `DepthwiseConv2dNative` for the filters."""
    def __call__(self, input: _t.Any, filter_sizes: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
DepthwiseConv2dNativeBackpropFilter: _OpDepthwiseConv2dNativeBackpropFilter

@_t.type_check_only
class _OpDepthwiseConv2dNativeBackpropInput(_t.Protocol):
    """The gradient of `DepthwiseConv2dNative` for the images."""
    def __call__(self, input_sizes: _t.Any, filter: _t.Any, out_backprop: _t.Any, *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
DepthwiseConv2dNativeBackpropInput: _OpDepthwiseConv2dNativeBackpropInput

@_t.type_check_only
class _OpDequantize(_t.Protocol):
    """The numbers for which quantized integers stand."""
    def __call__(self, input: _t.Any, min_range: _t.Any, max_range: _t.Any, *, axis: int = ..., dtype: _t.Any = ..., mode: str = ..., narrow_range: bool = ...) -> _n.Tensor: ...
Dequantize: _OpDequantize

@_t.type_check_only
class _OpDestroyResourceOp(_t.Protocol):
    """A resource deleted."""
    def __call__(self, resource: _t.Any, *, ignore_lookup_error: bool = ...) -> tuple[()]: ...
DestroyResourceOp: _OpDestroyResourceOp

@_t.type_check_only
class _OpDiag(_t.Protocol):
    """A tensor with the operand on its diagonal, zeros elsewhere."""
    def __call__(self, diagonal: _t.Any) -> _n.Tensor: ...
Diag: _OpDiag

@_t.type_check_only
class _OpDiagPart(_t.Protocol):
    """The diagonal of a tensor whose axes come in two equal halves."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
DiagPart: _OpDiagPart

@_t.type_check_only
class _OpDigamma(_t.Protocol):
    """The derivative of the logarithm of the gamma function."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Digamma: _OpDigamma

@_t.type_check_only
class _OpDilation2D(_t.Protocol):
    """For each window of an image, the maximum of its elements plus those of a filter."""
    def __call__(self, input: _t.Any, filter: _t.Any, *, padding: str, rates: _t.Sequence[int], strides: _t.Sequence[int]) -> _n.Tensor: ...
Dilation2D: _OpDilation2D

@_t.type_check_only
class _OpDilation2DBackpropFilter(_t.Protocol):
    """The gradient of `Dilation2D` for the filters."""
    def __call__(self, input: _t.Any, filter: _t.Any, out_backprop: _t.Any, *, padding: str, rates: _t.Sequence[int], strides: _t.Sequence[int]) -> _n.Tensor: ...
Dilation2DBackpropFilter: _OpDilation2DBackpropFilter

@_t.type_check_only
class _OpDilation2DBackpropInput(_t.Protocol):
    """The gradient of `Dilation2D` for the images."""
    def __call__(self, input: _t.Any, filter: _t.Any, out_backprop: _t.Any, *, padding: str, rates: _t.Sequence[int], strides: _t.Sequence[int]) -> _n.Tensor: ...
Dilation2DBackpropInput: _OpDilation2DBackpropInput

@_t.type_check_only
class _OpDisableCopyOnRead(_t.Protocol):
    """No operation: a variable is read without a copy in any case."""
    def __call__(self, resource: _t.Any) -> tuple[()]: ...
DisableCopyOnRead: _OpDisableCopyOnRead

@_t.type_check_only
class _OpDiv(_t.Protocol):
    """The quotient; of integers rounded towards zero."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Div: _OpDiv

@_t.type_check_only
class _OpDivNoNan(_t.Protocol):
    """The quotient, 0 where the divisor is 0."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
DivNoNan: _OpDivNoNan

@_t.type_check_only
class _OpDrawBoundingBoxes(_t.Protocol):
    """Images with the outlines of boxes."""
    def __call__(self, images: _t.Any, boxes: _t.Any) -> _n.Tensor: ...
DrawBoundingBoxes: _OpDrawBoundingBoxes

@_t.type_check_only
class _OpDrawBoundingBoxesV2(_t.Protocol):
    """Images with the outlines of boxes in given colors."""
    def __call__(self, images: _t.Any, boxes: _t.Any, colors: _t.Any) -> _n.Tensor: ...
DrawBoundingBoxesV2: _OpDrawBoundingBoxesV2

@_t.type_check_only
class _OpDynamicPartition(_t.Protocol):
    """The rows of a tensor divided into partitions by number."""
    def __call__(self, data: _t.Any, partitions: _t.Any, *, num_partitions: int) -> _t.Any: ...
DynamicPartition: _OpDynamicPartition

@_t.type_check_only
class _OpDynamicStitch(_t.Protocol):
    """Rows of several tensors merged by index; the last of equal indices wins."""
    def __call__(self, indices: _t.Sequence[_t.Any], data: _t.Sequence[_t.Any]) -> _n.Tensor: ...
DynamicStitch: _OpDynamicStitch

@_t.type_check_only
class _OpEditDistance(_t.Protocol):
    """The numbers of changes between sequences in two sparse tensors."""
    def __call__(self, hypothesis_indices: _t.Any, hypothesis_values: _t.Any, hypothesis_shape: _t.Any, truth_indices: _t.Any, truth_values: _t.Any, truth_shape: _t.Any, *, normalize: bool = ...) -> _n.Tensor: ...
EditDistance: _OpEditDistance

@_t.type_check_only
class _OpEig(_t.Protocol):
    """The eigenvalues and eigenvectors of square matrices."""
    def __call__(self, input: _t.Any, *, Tout: _t.Any, compute_v: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
Eig: _OpEig

@_t.type_check_only
class _OpEinsum(_t.Protocol):
    """The Einstein summation of an equation of axis labels."""
    def __call__(self, *operands: _t.Any, inputs: _t.Any = ..., equation: str) -> _n.Tensor: ...
Einsum: _OpEinsum

@_t.type_check_only
class _OpElu(_t.Protocol):
    """The exponential linear unit: x where x > 0, else exp(x) - 1."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Elu: _OpElu

@_t.type_check_only
class _OpEluGrad(_t.Protocol):
    """The gradient of `Elu`, of dy and y."""
    def __call__(self, gradients: _t.Any, outputs: _t.Any) -> _n.Tensor: ...
EluGrad: _OpEluGrad

@_t.type_check_only
class _OpEmpty(_t.Protocol):
    """A tensor of a shape with any values; here zeros."""
    def __call__(self, shape: _t.Any, *, dtype: _t.Any, init: bool = ...) -> _n.Tensor: ...
Empty: _OpEmpty

@_t.type_check_only
class _OpEmptyTensorList(_t.Protocol):
    """A list without elements."""
    def __call__(self, element_shape: _t.Any, max_num_elements: _t.Any, *, element_dtype: _t.Any) -> _n.Tensor: ...
EmptyTensorList: _OpEmptyTensorList

@_t.type_check_only
class _OpEncodeBase64(_t.Protocol):
    """Strings in base64, in the alphabet for addresses of the web."""
    def __call__(self, input: _t.Any, *, pad: bool = ...) -> _n.Tensor: ...
EncodeBase64: _OpEncodeBase64

@_t.type_check_only
class _OpEncodePng(_t.Protocol):
    """Images as PNGs."""
    def __call__(self, image: _t.Any, *, compression: int = ...) -> _n.Tensor: ...
EncodePng: _OpEncodePng

@_t.type_check_only
class _OpEnsureShape(_t.Protocol):
    """The operand, or an error if its shape is not the attribute's."""
    def __call__(self, input: _t.Any, *, shape: _Dims) -> _n.Tensor: ...
EnsureShape: _OpEnsureShape

@_t.type_check_only
class _OpEqual(_t.Protocol):
    """Whether elements are equal."""
    def __call__(self, x: _t.Any, y: _t.Any, *, incompatible_shape_error: bool = ...) -> _n.Tensor: ...
Equal: _OpEqual

@_t.type_check_only
class _OpErf(_t.Protocol):
    """The error function."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Erf: _OpErf

@_t.type_check_only
class _OpErfc(_t.Protocol):
    """The complementary error function, 1 - erf(x)."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Erfc: _OpErfc

@_t.type_check_only
class _OpErfinv(_t.Protocol):
    """The inverse of the error function."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Erfinv: _OpErfinv

@_t.type_check_only
class _OpEuclideanNorm(_t.Protocol):
    """The square root of the sum of squares along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
EuclideanNorm: _OpEuclideanNorm

@_t.type_check_only
class _OpExp(_t.Protocol):
    """The exponential function."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Exp: _OpExp

@_t.type_check_only
class _OpExpandDims(_t.Protocol):
    """The operand with a new axis of length 1."""
    def __call__(self, input: _t.Any, dim: _t.Any) -> _n.Tensor: ...
ExpandDims: _OpExpandDims

@_t.type_check_only
class _OpExpint(_t.Protocol):
    """The exponential integral."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Expint: _OpExpint

@_t.type_check_only
class _OpExpm1(_t.Protocol):
    """exp(x) - 1, exact for small x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Expm1: _OpExpm1

@_t.type_check_only
class _OpExtractGlimpse(_t.Protocol):
    """A window of each image, with noise outside of it. Offsets are those of the window's center."""
    def __call__(self, input: _t.Any, size: _t.Any, offsets: _t.Any, *, centered: bool = ..., noise: str = ..., normalized: bool = ..., uniform_noise: bool = ...) -> _n.Tensor: ...
ExtractGlimpse: _OpExtractGlimpse

@_t.type_check_only
class _OpExtractGlimpseV2(_t.Protocol):
    """A window of each image, with noise outside of it."""
    def __call__(self, input: _t.Any, size: _t.Any, offsets: _t.Any, *, centered: bool = ..., noise: str = ..., normalized: bool = ..., uniform_noise: bool = ...) -> _n.Tensor: ...
ExtractGlimpseV2: _OpExtractGlimpseV2

@_t.type_check_only
class _OpExtractImagePatches(_t.Protocol):
    """The pixels of each window of images, in one pixel of the result."""
    def __call__(self, images: _t.Any, *, ksizes: _t.Sequence[int], padding: str, rates: _t.Sequence[int], strides: _t.Sequence[int]) -> _n.Tensor: ...
ExtractImagePatches: _OpExtractImagePatches

@_t.type_check_only
class _OpExtractJpegShape(_t.Protocol):
    """Height, width and number of channels of a JPEG."""
    def __call__(self, contents: _t.Any, *, output_type: _t.Any = ...) -> _n.Tensor: ...
ExtractJpegShape: _OpExtractJpegShape

@_t.type_check_only
class _OpExtractVolumePatches(_t.Protocol):
    """The elements of each window of a volume."""
    def __call__(self, input: _t.Any, *, ksizes: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
ExtractVolumePatches: _OpExtractVolumePatches

@_t.type_check_only
class _OpFFT(_t.Protocol):
    """The Fourier transform along the last axis."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
FFT: _OpFFT

@_t.type_check_only
class _OpFFT2D(_t.Protocol):
    """The Fourier transform along the last two axes."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
FFT2D: _OpFFT2D

@_t.type_check_only
class _OpFFT3D(_t.Protocol):
    """The Fourier transform along the last three axes."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
FFT3D: _OpFFT3D

@_t.type_check_only
class _OpFakeQuantWithMinMaxArgs(_t.Protocol):
    """Numbers rounded to those of a quantized range."""
    def __call__(self, inputs: _t.Any, *, max: float = ..., min: float = ..., narrow_range: bool = ..., num_bits: int = ...) -> _n.Tensor: ...
FakeQuantWithMinMaxArgs: _OpFakeQuantWithMinMaxArgs

@_t.type_check_only
class _OpFakeQuantWithMinMaxArgsGradient(_t.Protocol):
    """The gradient of `FakeQuantWithMinMaxArgs`."""
    def __call__(self, gradients: _t.Any, inputs: _t.Any, *, max: float = ..., min: float = ..., narrow_range: bool = ..., num_bits: int = ...) -> _n.Tensor: ...
FakeQuantWithMinMaxArgsGradient: _OpFakeQuantWithMinMaxArgsGradient

@_t.type_check_only
class _OpFakeQuantWithMinMaxVars(_t.Protocol):
    """Numbers rounded to those of a quantized range."""
    def __call__(self, inputs: _t.Any, min: _t.Any, max: _t.Any, *, narrow_range: bool = ..., num_bits: int = ...) -> _n.Tensor: ...
FakeQuantWithMinMaxVars: _OpFakeQuantWithMinMaxVars

@_t.type_check_only
class _OpFakeQuantWithMinMaxVarsGradient(_t.Protocol):
    """The gradients of `FakeQuantWithMinMaxVars`."""
    def __call__(self, gradients: _t.Any, inputs: _t.Any, min: _t.Any, max: _t.Any, *, narrow_range: bool = ..., num_bits: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
FakeQuantWithMinMaxVarsGradient: _OpFakeQuantWithMinMaxVarsGradient

@_t.type_check_only
class _OpFakeQuantWithMinMaxVarsPerChannel(_t.Protocol):
    """Numbers rounded to those of a quantized range, one range for each channel."""
    def __call__(self, inputs: _t.Any, min: _t.Any, max: _t.Any, *, narrow_range: bool = ..., num_bits: int = ...) -> _n.Tensor: ...
FakeQuantWithMinMaxVarsPerChannel: _OpFakeQuantWithMinMaxVarsPerChannel

@_t.type_check_only
class _OpFakeQuantWithMinMaxVarsPerChannelGradient(_t.Protocol):
    """The gradients of `FakeQuantWithMinMaxVarsPerChannel`."""
    def __call__(self, gradients: _t.Any, inputs: _t.Any, min: _t.Any, max: _t.Any, *, narrow_range: bool = ..., num_bits: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
FakeQuantWithMinMaxVarsPerChannelGradient: _OpFakeQuantWithMinMaxVarsPerChannelGradient

@_t.type_check_only
class _OpFill(_t.Protocol):
    """A tensor of a shape with one value."""
    def __call__(self, dims: _t.Any, value: _t.Any) -> _n.Tensor: ...
Fill: _OpFill

@_t.type_check_only
class _OpFixedUnigramCandidateSampler(_t.Protocol):
    """Candidates, drawn by given weights."""
    def __call__(self, true_classes: _t.Any, *, distortion: float = ..., num_reserved_ids: int = ..., num_sampled: int, num_shards: int = ..., num_true: int, range_max: int, seed: int = ..., seed2: int = ..., shard: int = ..., unigrams: _t.Sequence[float] = ..., unique: bool, vocab_file: str = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
FixedUnigramCandidateSampler: _OpFixedUnigramCandidateSampler

@_t.type_check_only
class _OpFloor(_t.Protocol):
    """The largest integer that is not greater than x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Floor: _OpFloor

@_t.type_check_only
class _OpFloorDiv(_t.Protocol):
    """The quotient rounded down."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
FloorDiv: _OpFloorDiv

@_t.type_check_only
class _OpFloorMod(_t.Protocol):
    """The remainder with the divisor's sign."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
FloorMod: _OpFloorMod

@_t.type_check_only
class _OpFractionalAvgPool(_t.Protocol):
    """The mean of each window of an image, with windows of two sizes in random order."""
    def __call__(self, value: _t.Any, *, deterministic: bool = ..., overlapping: bool = ..., pooling_ratio: _t.Sequence[float], pseudo_random: bool = ..., seed: int = ..., seed2: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
FractionalAvgPool: _OpFractionalAvgPool

@_t.type_check_only
class _OpFractionalAvgPoolGrad(_t.Protocol):
    """The gradient of `FractionalAvgPool`."""
    def __call__(self, orig_input_tensor_shape: _t.Any, out_backprop: _t.Any, row_pooling_sequence: _t.Any, col_pooling_sequence: _t.Any, *, overlapping: bool = ...) -> _n.Tensor: ...
FractionalAvgPoolGrad: _OpFractionalAvgPoolGrad

@_t.type_check_only
class _OpFractionalMaxPool(_t.Protocol):
    """The maximum of each window of an image, with windows of two sizes in random order."""
    def __call__(self, value: _t.Any, *, deterministic: bool = ..., overlapping: bool = ..., pooling_ratio: _t.Sequence[float], pseudo_random: bool = ..., seed: int = ..., seed2: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
FractionalMaxPool: _OpFractionalMaxPool

@_t.type_check_only
class _OpFractionalMaxPoolGrad(_t.Protocol):
    """The gradient of `FractionalMaxPool`."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, out_backprop: _t.Any, row_pooling_sequence: _t.Any, col_pooling_sequence: _t.Any, *, overlapping: bool = ...) -> _n.Tensor: ...
FractionalMaxPoolGrad: _OpFractionalMaxPoolGrad

@_t.type_check_only
class _OpFresnelCos(_t.Protocol):
    """Fresnel's integral of the cosine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
FresnelCos: _OpFresnelCos

@_t.type_check_only
class _OpFresnelSin(_t.Protocol):
    """Fresnel's integral of the sine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
FresnelSin: _OpFresnelSin

@_t.type_check_only
class _OpFusedBatchNorm(_t.Protocol):
    """The batch normalization of images, in training or inference."""
    def __call__(self, x: _t.Any, scale: _t.Any, offset: _t.Any, mean: _t.Any, variance: _t.Any, *, data_format: str = ..., epsilon: float = ..., exponential_avg_factor: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNorm: _OpFusedBatchNorm

@_t.type_check_only
class _OpFusedBatchNormGrad(_t.Protocol):
    """The gradient of `FusedBatchNorm`."""
    def __call__(self, y_backprop: _t.Any, x: _t.Any, scale: _t.Any, reserve_space_1: _t.Any, reserve_space_2: _t.Any, *, data_format: str = ..., epsilon: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNormGrad: _OpFusedBatchNormGrad

@_t.type_check_only
class _OpFusedBatchNormGradV2(_t.Protocol):
    """The gradient of `FusedBatchNormV2`."""
    def __call__(self, y_backprop: _t.Any, x: _t.Any, scale: _t.Any, reserve_space_1: _t.Any, reserve_space_2: _t.Any, *, data_format: str = ..., epsilon: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNormGradV2: _OpFusedBatchNormGradV2

@_t.type_check_only
class _OpFusedBatchNormGradV3(_t.Protocol):
    """The gradient of `FusedBatchNormV3`."""
    def __call__(self, y_backprop: _t.Any, x: _t.Any, scale: _t.Any, reserve_space_1: _t.Any, reserve_space_2: _t.Any, reserve_space_3: _t.Any, *, data_format: str = ..., epsilon: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNormGradV3: _OpFusedBatchNormGradV3

@_t.type_check_only
class _OpFusedBatchNormV2(_t.Protocol):
    """The batch normalization of images, with f32 moments."""
    def __call__(self, x: _t.Any, scale: _t.Any, offset: _t.Any, mean: _t.Any, variance: _t.Any, *, data_format: str = ..., epsilon: float = ..., exponential_avg_factor: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNormV2: _OpFusedBatchNormV2

@_t.type_check_only
class _OpFusedBatchNormV3(_t.Protocol):
    """The batch normalization of images, with f32 moments and a third reserve space."""
    def __call__(self, x: _t.Any, scale: _t.Any, offset: _t.Any, mean: _t.Any, variance: _t.Any, *, data_format: str = ..., epsilon: float = ..., exponential_avg_factor: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
FusedBatchNormV3: _OpFusedBatchNormV3

@_t.type_check_only
class _OpFusedPadConv2D(_t.Protocol):
    """The convolution of images that are padded by reflection."""
    def __call__(self, input: _t.Any, paddings: _t.Any, filter: _t.Any, *, mode: str, padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
FusedPadConv2D: _OpFusedPadConv2D

@_t.type_check_only
class _OpFusedResizeAndPadConv2D(_t.Protocol):
    """The convolution of images that are resized, then padded by reflection."""
    def __call__(self, input: _t.Any, size: _t.Any, paddings: _t.Any, filter: _t.Any, *, mode: str, padding: str, resize_align_corners: bool = ..., strides: _t.Sequence[int]) -> _n.Tensor: ...
FusedResizeAndPadConv2D: _OpFusedResizeAndPadConv2D

@_t.type_check_only
class _OpGRUBlockCell(_t.Protocol):
    """A step of gated recurrent units."""
    def __call__(self, x: _t.Any, h_prev: _t.Any, w_ru: _t.Any, w_c: _t.Any, b_ru: _t.Any, b_c: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
GRUBlockCell: _OpGRUBlockCell

@_t.type_check_only
class _OpGRUBlockCellGrad(_t.Protocol):
    """The gradient of `GRUBlockCell`: of the input, of the state, and of all gates."""
    def __call__(self, x: _t.Any, h_prev: _t.Any, w_ru: _t.Any, w_c: _t.Any, b_ru: _t.Any, b_c: _t.Any, r: _t.Any, u: _t.Any, c: _t.Any, d_h: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
GRUBlockCellGrad: _OpGRUBlockCellGrad

@_t.type_check_only
class _OpGather(_t.Protocol):
    """Rows by index."""
    def __call__(self, params: _t.Any, indices: _t.Any, *, validate_indices: bool = ...) -> _n.Tensor: ...
Gather: _OpGather

@_t.type_check_only
class _OpGatherNd(_t.Protocol):
    """Slices by vectors of indices."""
    def __call__(self, params: _t.Any, indices: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
GatherNd: _OpGatherNd

@_t.type_check_only
class _OpGatherV2(_t.Protocol):
    """Slices along an axis by index, with batch axes."""
    def __call__(self, params: _t.Any, indices: _t.Any, axis: _t.Any, *, batch_dims: int = ...) -> _n.Tensor: ...
GatherV2: _OpGatherV2

@_t.type_check_only
class _OpGreater(_t.Protocol):
    """Whether x > y."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Greater: _OpGreater

@_t.type_check_only
class _OpGreaterEqual(_t.Protocol):
    """Whether x >= y."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
GreaterEqual: _OpGreaterEqual

@_t.type_check_only
class _OpGuaranteeConst(_t.Protocol):
    """The operand, which the graph's author guarantees to be constant."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
GuaranteeConst: _OpGuaranteeConst

@_t.type_check_only
class _OpHSVToRGB(_t.Protocol):
    """The colors of hues, saturations and values."""
    def __call__(self, images: _t.Any) -> _n.Tensor: ...
HSVToRGB: _OpHSVToRGB

@_t.type_check_only
class _OpHashTable(_t.Protocol):
    """A table that is initialized once, by reference."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any) -> _n.Tensor: ...
HashTable: _OpHashTable

@_t.type_check_only
class _OpHashTableV2(_t.Protocol):
    """A table that is initialized once."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any) -> _n.Tensor: ...
HashTableV2: _OpHashTableV2

@_t.type_check_only
class _OpHistogramFixedWidth(_t.Protocol):
    """The numbers of elements in equal parts of a range."""
    def __call__(self, values: _t.Any, value_range: _t.Any, nbins: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
HistogramFixedWidth: _OpHistogramFixedWidth

@_t.type_check_only
class _OpHostConst(_t.Protocol):
    """A constant in the memory of the host."""
    def __call__(self, *, dtype: _t.Any, value: _t.Any) -> _n.Tensor: ...
HostConst: _OpHostConst

@_t.type_check_only
class _OpIFFT(_t.Protocol):
    """The inverse Fourier transform along the last axis."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
IFFT: _OpIFFT

@_t.type_check_only
class _OpIFFT2D(_t.Protocol):
    """The inverse Fourier transform along the last two axes."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
IFFT2D: _OpIFFT2D

@_t.type_check_only
class _OpIFFT3D(_t.Protocol):
    """The inverse Fourier transform along the last three axes."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
IFFT3D: _OpIFFT3D

@_t.type_check_only
class _OpIRFFT(_t.Protocol):
    """The inverse Fourier transform to real numbers along the last axis."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Treal: _t.Any = ...) -> _n.Tensor: ...
IRFFT: _OpIRFFT

@_t.type_check_only
class _OpIRFFT2D(_t.Protocol):
    """The inverse Fourier transform to real numbers along the last two axes."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Treal: _t.Any = ...) -> _n.Tensor: ...
IRFFT2D: _OpIRFFT2D

@_t.type_check_only
class _OpIRFFT3D(_t.Protocol):
    """The inverse Fourier transform to real numbers along the last three axes."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Treal: _t.Any = ...) -> _n.Tensor: ...
IRFFT3D: _OpIRFFT3D

@_t.type_check_only
class _OpIdentity(_t.Protocol):
    """The operand."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Identity: _OpIdentity

@_t.type_check_only
class _OpIdentityN(_t.Protocol):
    """The operands."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ...) -> _t.Any: ...
IdentityN: _OpIdentityN

@_t.type_check_only
class _OpIf(_t.Protocol):
    """The call of one of two functions, by a condition."""
    def __call__(self, *operands: _t.Any, cond: _t.Any = ..., input: _t.Any = ..., Tout: _t.Sequence[_t.Any], else_branch: _t.Any, output_shapes: _t.Sequence[_Dims] = ..., then_branch: _t.Any) -> _t.Any: ...
If: _OpIf

@_t.type_check_only
class _OpIgamma(_t.Protocol):
    """The regularized lower incomplete gamma function."""
    def __call__(self, a: _t.Any, x: _t.Any) -> _n.Tensor: ...
Igamma: _OpIgamma

@_t.type_check_only
class _OpIgammaGradA(_t.Protocol):
    """The derivative of Igamma by its first operand."""
    def __call__(self, a: _t.Any, x: _t.Any) -> _n.Tensor: ...
IgammaGradA: _OpIgammaGradA

@_t.type_check_only
class _OpIgammac(_t.Protocol):
    """The regularized upper incomplete gamma function."""
    def __call__(self, a: _t.Any, x: _t.Any) -> _n.Tensor: ...
Igammac: _OpIgammac

@_t.type_check_only
class _OpImag(_t.Protocol):
    """The imaginary part of a complex number."""
    def __call__(self, input: _t.Any, *, Tout: _t.Any = ...) -> _n.Tensor: ...
Imag: _OpImag

@_t.type_check_only
class _OpImageProjectiveTransformV2(_t.Protocol):
    """Images seen through projective transformations."""
    def __call__(self, images: _t.Any, transforms: _t.Any, output_shape: _t.Any, *, fill_mode: str = ..., interpolation: str) -> _n.Tensor: ...
ImageProjectiveTransformV2: _OpImageProjectiveTransformV2

@_t.type_check_only
class _OpImageProjectiveTransformV3(_t.Protocol):
    """Images seen through projective transformations, with a value for what is outside of them."""
    def __call__(self, images: _t.Any, transforms: _t.Any, output_shape: _t.Any, fill_value: _t.Any, *, fill_mode: str = ..., interpolation: str) -> _n.Tensor: ...
ImageProjectiveTransformV3: _OpImageProjectiveTransformV3

@_t.type_check_only
class _OpInTopK(_t.Protocol):
    """Whether the target of each row is among its k largest elements."""
    def __call__(self, predictions: _t.Any, targets: _t.Any, *, k: int) -> _n.Tensor: ...
InTopK: _OpInTopK

@_t.type_check_only
class _OpInTopKV2(_t.Protocol):
    """Whether the target of each row is among its k largest elements."""
    def __call__(self, predictions: _t.Any, targets: _t.Any, k: _t.Any) -> _n.Tensor: ...
InTopKV2: _OpInTopKV2

@_t.type_check_only
class _OpInitializeTable(_t.Protocol):
    """A table initialized with keys and values, by reference."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
InitializeTable: _OpInitializeTable

@_t.type_check_only
class _OpInitializeTableFromTextFileV2(_t.Protocol):
    """A table initialized with the lines of a file. The importer replaces the file by the text of an asset."""
    def __call__(self, table_handle: _t.Any, filename: _t.Any, *, delimiter: str = ..., key_index: int, offset: int = ..., value_index: int, vocab_size: int = ...) -> tuple[()]: ...
InitializeTableFromTextFileV2: _OpInitializeTableFromTextFileV2

@_t.type_check_only
class _OpInitializeTableV2(_t.Protocol):
    """A table initialized with keys and values."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
InitializeTableV2: _OpInitializeTableV2

@_t.type_check_only
class _OpInplaceAdd(_t.Protocol):
    """Values added to rows by number."""
    def __call__(self, x: _t.Any, i: _t.Any, v: _t.Any) -> _n.Tensor: ...
InplaceAdd: _OpInplaceAdd

@_t.type_check_only
class _OpInplaceSub(_t.Protocol):
    """Values subtracted from rows by number."""
    def __call__(self, x: _t.Any, i: _t.Any, v: _t.Any) -> _n.Tensor: ...
InplaceSub: _OpInplaceSub

@_t.type_check_only
class _OpInplaceUpdate(_t.Protocol):
    """A tensor with rows replaced by number. The tensor that is given stays as it is."""
    def __call__(self, x: _t.Any, i: _t.Any, v: _t.Any) -> _n.Tensor: ...
InplaceUpdate: _OpInplaceUpdate

@_t.type_check_only
class _OpInv(_t.Protocol):
    """The reciprocal; an old name of `Reciprocal`."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Inv: _OpInv

@_t.type_check_only
class _OpInvGrad(_t.Protocol):
    """The gradient of `Inv`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
InvGrad: _OpInvGrad

@_t.type_check_only
class _OpInvert(_t.Protocol):
    """All bits of an integer inverted."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Invert: _OpInvert

@_t.type_check_only
class _OpInvertPermutation(_t.Protocol):
    """The inverse of a permutation."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
InvertPermutation: _OpInvertPermutation

@_t.type_check_only
class _OpIsFinite(_t.Protocol):
    """Whether an element is neither infinite nor NaN."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
IsFinite: _OpIsFinite

@_t.type_check_only
class _OpIsInf(_t.Protocol):
    """Whether an element is infinite."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
IsInf: _OpIsInf

@_t.type_check_only
class _OpIsNan(_t.Protocol):
    """Whether an element is NaN."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
IsNan: _OpIsNan

@_t.type_check_only
class _OpIsVariableInitialized(_t.Protocol):
    """Whether a reference variable has a value."""
    def __call__(self, ref: _t.Any) -> _n.Tensor: ...
IsVariableInitialized: _OpIsVariableInitialized

@_t.type_check_only
class _OpL2Loss(_t.Protocol):
    """Half of the sum of squares."""
    def __call__(self, t: _t.Any) -> _n.Tensor: ...
L2Loss: _OpL2Loss

@_t.type_check_only
class _OpLRN(_t.Protocol):
    """The local response normalization along channels."""
    def __call__(self, input: _t.Any, *, alpha: float = ..., beta: float = ..., bias: float = ..., depth_radius: int = ...) -> _n.Tensor: ...
LRN: _OpLRN

@_t.type_check_only
class _OpLRNGrad(_t.Protocol):
    """The gradient of `LRN`."""
    def __call__(self, input_grads: _t.Any, input_image: _t.Any, output_image: _t.Any, *, alpha: float = ..., beta: float = ..., bias: float = ..., depth_radius: int = ...) -> _n.Tensor: ...
LRNGrad: _OpLRNGrad

@_t.type_check_only
class _OpLSTMBlockCell(_t.Protocol):
    """A step of long short-term memories."""
    def __call__(self, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, *, cell_clip: float = ..., forget_bias: float = ..., use_peephole: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
LSTMBlockCell: _OpLSTMBlockCell

@_t.type_check_only
class _OpLSTMBlockCellGrad(_t.Protocol):
    """The gradient of `LSTMBlockCell`: of the memory, of the gates, and of the memory's weights."""
    def __call__(self, x: _t.Any, cs_prev: _t.Any, h_prev: _t.Any, w: _t.Any, wci: _t.Any, wcf: _t.Any, wco: _t.Any, b: _t.Any, i: _t.Any, cs: _t.Any, f: _t.Any, o: _t.Any, ci: _t.Any, co: _t.Any, cs_grad: _t.Any, h_grad: _t.Any, *, use_peephole: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
LSTMBlockCellGrad: _OpLSTMBlockCellGrad

@_t.type_check_only
class _OpLeakyRelu(_t.Protocol):
    """x where x > 0, else alpha * x."""
    def __call__(self, features: _t.Any, *, alpha: float = ...) -> _n.Tensor: ...
LeakyRelu: _OpLeakyRelu

@_t.type_check_only
class _OpLeakyReluGrad(_t.Protocol):
    """The gradient of `LeakyRelu`, of dy and x."""
    def __call__(self, gradients: _t.Any, features: _t.Any, *, alpha: float = ...) -> _n.Tensor: ...
LeakyReluGrad: _OpLeakyReluGrad

@_t.type_check_only
class _OpLearnedUnigramCandidateSampler(_t.Protocol):
    """Candidates, drawn by the numbers of true classes so far."""
    def __call__(self, true_classes: _t.Any, *, num_sampled: int, num_true: int, range_max: int, seed: int = ..., seed2: int = ..., unique: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
LearnedUnigramCandidateSampler: _OpLearnedUnigramCandidateSampler

@_t.type_check_only
class _OpLeftShift(_t.Protocol):
    """The bits of an integer shifted to the left."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
LeftShift: _OpLeftShift

@_t.type_check_only
class _OpLess(_t.Protocol):
    """Whether x < y."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Less: _OpLess

@_t.type_check_only
class _OpLessEqual(_t.Protocol):
    """Whether x <= y."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
LessEqual: _OpLessEqual

@_t.type_check_only
class _OpLgamma(_t.Protocol):
    """The logarithm of the absolute value of the gamma function."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Lgamma: _OpLgamma

@_t.type_check_only
class _OpLinSpace(_t.Protocol):
    """Numbers at equal distances between two ends."""
    def __call__(self, start: _t.Any, stop: _t.Any, num: _t.Any) -> _n.Tensor: ...
LinSpace: _OpLinSpace

@_t.type_check_only
class _OpListDiff(_t.Protocol):
    """The elements of one vector that are not in another, with their positions."""
    def __call__(self, x: _t.Any, y: _t.Any, *, out_idx: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
ListDiff: _OpListDiff

@_t.type_check_only
class _OpLog(_t.Protocol):
    """The natural logarithm."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Log: _OpLog

@_t.type_check_only
class _OpLog1p(_t.Protocol):
    """log(1 + x), exact for small x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Log1p: _OpLog1p

@_t.type_check_only
class _OpLogMatrixDeterminant(_t.Protocol):
    """The signs of the determinants of matrices, and the logarithms of their absolute values."""
    def __call__(self, input: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
LogMatrixDeterminant: _OpLogMatrixDeterminant

@_t.type_check_only
class _OpLogSoftmax(_t.Protocol):
    """The logarithm of `Softmax`."""
    def __call__(self, logits: _t.Any) -> _n.Tensor: ...
LogSoftmax: _OpLogSoftmax

@_t.type_check_only
class _OpLogUniformCandidateSampler(_t.Protocol):
    """Candidates, drawn with logarithms that are nearly uniform."""
    def __call__(self, true_classes: _t.Any, *, num_sampled: int, num_true: int, range_max: int, seed: int = ..., seed2: int = ..., unique: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
LogUniformCandidateSampler: _OpLogUniformCandidateSampler

@_t.type_check_only
class _OpLogicalAnd(_t.Protocol):
    """The conjunction of truth values."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
LogicalAnd: _OpLogicalAnd

@_t.type_check_only
class _OpLogicalNot(_t.Protocol):
    """The negation of a truth value."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
LogicalNot: _OpLogicalNot

@_t.type_check_only
class _OpLogicalOr(_t.Protocol):
    """The disjunction of truth values."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
LogicalOr: _OpLogicalOr

@_t.type_check_only
class _OpLookupTableExport(_t.Protocol):
    """All keys and values of a table, in the order of the keys, by reference."""
    def __call__(self, table_handle: _t.Any, *, Tkeys: _t.Any, Tvalues: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
LookupTableExport: _OpLookupTableExport

@_t.type_check_only
class _OpLookupTableExportV2(_t.Protocol):
    """All keys and values of a table, in the order of the keys."""
    def __call__(self, table_handle: _t.Any, *, Tkeys: _t.Any, Tvalues: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
LookupTableExportV2: _OpLookupTableExportV2

@_t.type_check_only
class _OpLookupTableFind(_t.Protocol):
    """The values of keys in a table, by reference, and a default value for missing keys."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, default_value: _t.Any) -> _n.Tensor: ...
LookupTableFind: _OpLookupTableFind

@_t.type_check_only
class _OpLookupTableFindV2(_t.Protocol):
    """The values of keys in a table, and a default value for missing keys."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, default_value: _t.Any) -> _n.Tensor: ...
LookupTableFindV2: _OpLookupTableFindV2

@_t.type_check_only
class _OpLookupTableImport(_t.Protocol):
    """All entries of a table replaced by keys and values, by reference."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
LookupTableImport: _OpLookupTableImport

@_t.type_check_only
class _OpLookupTableImportV2(_t.Protocol):
    """All entries of a table replaced by keys and values."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
LookupTableImportV2: _OpLookupTableImportV2

@_t.type_check_only
class _OpLookupTableInsert(_t.Protocol):
    """Keys and values added to a table, by reference."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
LookupTableInsert: _OpLookupTableInsert

@_t.type_check_only
class _OpLookupTableInsertV2(_t.Protocol):
    """Keys and values added to a table."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any, values: _t.Any) -> tuple[()]: ...
LookupTableInsertV2: _OpLookupTableInsertV2

@_t.type_check_only
class _OpLookupTableRemoveV2(_t.Protocol):
    """Keys removed from a table."""
    def __call__(self, table_handle: _t.Any, keys: _t.Any) -> tuple[()]: ...
LookupTableRemoveV2: _OpLookupTableRemoveV2

@_t.type_check_only
class _OpLookupTableSize(_t.Protocol):
    """The number of keys of a table, by reference."""
    def __call__(self, table_handle: _t.Any) -> _n.Tensor: ...
LookupTableSize: _OpLookupTableSize

@_t.type_check_only
class _OpLookupTableSizeV2(_t.Protocol):
    """The number of keys of a table."""
    def __call__(self, table_handle: _t.Any) -> _n.Tensor: ...
LookupTableSizeV2: _OpLookupTableSizeV2

@_t.type_check_only
class _OpLowerBound(_t.Protocol):
    """For each value, the first position in a sorted row whose element is not less."""
    def __call__(self, sorted_inputs: _t.Any, values: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
LowerBound: _OpLowerBound

@_t.type_check_only
class _OpLu(_t.Protocol):
    """The lower and upper triangular factors of matrices, and the order of their rows."""
    def __call__(self, input: _t.Any, *, output_idx_type: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
Lu: _OpLu

@_t.type_check_only
class _OpMatMul(_t.Protocol):
    """The product of two matrices, each transposed by attribute."""
    def __call__(self, a: _t.Any, b: _t.Any, *, grad_a: bool = ..., grad_b: bool = ..., transpose_a: bool = ..., transpose_b: bool = ...) -> _n.Tensor: ...
MatMul: _OpMatMul

@_t.type_check_only
class _OpMatrixBandPart(_t.Protocol):
    """Matrices with zeros outside of a band of diagonals."""
    def __call__(self, input: _t.Any, num_lower: _t.Any, num_upper: _t.Any) -> _n.Tensor: ...
MatrixBandPart: _OpMatrixBandPart

@_t.type_check_only
class _OpMatrixDeterminant(_t.Protocol):
    """The determinants of matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
MatrixDeterminant: _OpMatrixDeterminant

@_t.type_check_only
class _OpMatrixDiag(_t.Protocol):
    """Matrices with vectors on their diagonals."""
    def __call__(self, diagonal: _t.Any) -> _n.Tensor: ...
MatrixDiag: _OpMatrixDiag

@_t.type_check_only
class _OpMatrixDiagPart(_t.Protocol):
    """The diagonals of matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
MatrixDiagPart: _OpMatrixDiagPart

@_t.type_check_only
class _OpMatrixDiagPartV2(_t.Protocol):
    """A band of diagonals of matrices."""
    def __call__(self, input: _t.Any, k: _t.Any, padding_value: _t.Any) -> _n.Tensor: ...
MatrixDiagPartV2: _OpMatrixDiagPartV2

@_t.type_check_only
class _OpMatrixDiagPartV3(_t.Protocol):
    """A band of diagonals of matrices, aligned by attribute."""
    def __call__(self, input: _t.Any, k: _t.Any, padding_value: _t.Any, *, align: str = ...) -> _n.Tensor: ...
MatrixDiagPartV3: _OpMatrixDiagPartV3

@_t.type_check_only
class _OpMatrixDiagV2(_t.Protocol):
    """Matrices with vectors on a band of diagonals."""
    def __call__(self, diagonal: _t.Any, k: _t.Any, num_rows: _t.Any, num_cols: _t.Any, padding_value: _t.Any) -> _n.Tensor: ...
MatrixDiagV2: _OpMatrixDiagV2

@_t.type_check_only
class _OpMatrixDiagV3(_t.Protocol):
    """Matrices with vectors on a band of diagonals, aligned by attribute."""
    def __call__(self, diagonal: _t.Any, k: _t.Any, num_rows: _t.Any, num_cols: _t.Any, padding_value: _t.Any, *, align: str = ...) -> _n.Tensor: ...
MatrixDiagV3: _OpMatrixDiagV3

@_t.type_check_only
class _OpMatrixExponential(_t.Protocol):
    """The exponentials of square matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
MatrixExponential: _OpMatrixExponential

@_t.type_check_only
class _OpMatrixInverse(_t.Protocol):
    """The inverses of matrices."""
    def __call__(self, input: _t.Any, *, adjoint: bool = ...) -> _n.Tensor: ...
MatrixInverse: _OpMatrixInverse

@_t.type_check_only
class _OpMatrixLogarithm(_t.Protocol):
    """The principal logarithms of square matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
MatrixLogarithm: _OpMatrixLogarithm

@_t.type_check_only
class _OpMatrixSetDiag(_t.Protocol):
    """Matrices with other diagonals."""
    def __call__(self, input: _t.Any, diagonal: _t.Any) -> _n.Tensor: ...
MatrixSetDiag: _OpMatrixSetDiag

@_t.type_check_only
class _OpMatrixSetDiagV2(_t.Protocol):
    """Matrices with another band of diagonals."""
    def __call__(self, input: _t.Any, diagonal: _t.Any, k: _t.Any) -> _n.Tensor: ...
MatrixSetDiagV2: _OpMatrixSetDiagV2

@_t.type_check_only
class _OpMatrixSetDiagV3(_t.Protocol):
    """Matrices with another band of diagonals, aligned by attribute."""
    def __call__(self, input: _t.Any, diagonal: _t.Any, k: _t.Any, *, align: str = ...) -> _n.Tensor: ...
MatrixSetDiagV3: _OpMatrixSetDiagV3

@_t.type_check_only
class _OpMatrixSolve(_t.Protocol):
    """The solutions of systems of linear equations."""
    def __call__(self, matrix: _t.Any, rhs: _t.Any, *, adjoint: bool = ...) -> _n.Tensor: ...
MatrixSolve: _OpMatrixSolve

@_t.type_check_only
class _OpMatrixSolveLs(_t.Protocol):
    """The solutions of least squares."""
    def __call__(self, matrix: _t.Any, rhs: _t.Any, l2_regularizer: _t.Any, *, fast: bool = ...) -> _n.Tensor: ...
MatrixSolveLs: _OpMatrixSolveLs

@_t.type_check_only
class _OpMatrixSquareRoot(_t.Protocol):
    """The principal square roots of square matrices."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
MatrixSquareRoot: _OpMatrixSquareRoot

@_t.type_check_only
class _OpMatrixTriangularSolve(_t.Protocol):
    """The solutions of systems of linear equations with triangular matrices."""
    def __call__(self, matrix: _t.Any, rhs: _t.Any, *, adjoint: bool = ..., lower: bool = ...) -> _n.Tensor: ...
MatrixTriangularSolve: _OpMatrixTriangularSolve

@_t.type_check_only
class _OpMax(_t.Protocol):
    """The maximum along axes; NaN if an element is NaN."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Max: _OpMax

@_t.type_check_only
class _OpMaxPool(_t.Protocol):
    """The maximum of each window of an image."""
    def __call__(self, input: _t.Any, *, data_format: str = ..., explicit_paddings: _t.Sequence[int] = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPool: _OpMaxPool

@_t.type_check_only
class _OpMaxPool3D(_t.Protocol):
    """The maximum of each window of a volume."""
    def __call__(self, input: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPool3D: _OpMaxPool3D

@_t.type_check_only
class _OpMaxPool3DGrad(_t.Protocol):
    """The gradient of `MaxPool3D`."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPool3DGrad: _OpMaxPool3DGrad

@_t.type_check_only
class _OpMaxPool3DGradGrad(_t.Protocol):
    """The gradient of `MaxPool3DGrad` by the gradient that it distributes."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPool3DGradGrad: _OpMaxPool3DGradGrad

@_t.type_check_only
class _OpMaxPoolGrad(_t.Protocol):
    """The gradient of `MaxPool`."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, *, data_format: str = ..., explicit_paddings: _t.Sequence[int] = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPoolGrad: _OpMaxPoolGrad

@_t.type_check_only
class _OpMaxPoolGradGrad(_t.Protocol):
    """The gradient of `MaxPoolGrad`."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, *, data_format: str = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPoolGradGrad: _OpMaxPoolGradGrad

@_t.type_check_only
class _OpMaxPoolGradGradV2(_t.Protocol):
    """The gradient of `MaxPoolGradV2` by the gradient that it distributes."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, ksize: _t.Any, strides: _t.Any, *, data_format: str = ..., padding: str) -> _n.Tensor: ...
MaxPoolGradGradV2: _OpMaxPoolGradGradV2

@_t.type_check_only
class _OpMaxPoolGradGradWithArgmax(_t.Protocol):
    """The gradient of `MaxPoolGradWithArgmax`."""
    def __call__(self, input: _t.Any, grad: _t.Any, argmax: _t.Any, *, include_batch_in_index: bool = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPoolGradGradWithArgmax: _OpMaxPoolGradGradWithArgmax

@_t.type_check_only
class _OpMaxPoolGradV2(_t.Protocol):
    """The gradient of `MaxPoolV2`."""
    def __call__(self, orig_input: _t.Any, orig_output: _t.Any, grad: _t.Any, ksize: _t.Any, strides: _t.Any, *, data_format: str = ..., padding: str) -> _n.Tensor: ...
MaxPoolGradV2: _OpMaxPoolGradV2

@_t.type_check_only
class _OpMaxPoolGradWithArgmax(_t.Protocol):
    """The gradient of `MaxPoolWithArgmax`."""
    def __call__(self, input: _t.Any, grad: _t.Any, argmax: _t.Any, *, include_batch_in_index: bool = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
MaxPoolGradWithArgmax: _OpMaxPoolGradWithArgmax

@_t.type_check_only
class _OpMaxPoolV2(_t.Protocol):
    """The maximum of each window of an image; window sizes and strides are operands."""
    def __call__(self, input: _t.Any, ksize: _t.Any, strides: _t.Any, *, data_format: str = ..., padding: str) -> _n.Tensor: ...
MaxPoolV2: _OpMaxPoolV2

@_t.type_check_only
class _OpMaxPoolWithArgmax(_t.Protocol):
    """The largest pixels of windows of images, and their positions."""
    def __call__(self, input: _t.Any, *, Targmax: _t.Any = ..., include_batch_in_index: bool = ..., ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> tuple[_n.Tensor, _n.Tensor]: ...
MaxPoolWithArgmax: _OpMaxPoolWithArgmax

@_t.type_check_only
class _OpMaximum(_t.Protocol):
    """The larger one; NaN if either is NaN."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Maximum: _OpMaximum

@_t.type_check_only
class _OpMean(_t.Protocol):
    """The mean along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Mean: _OpMean

@_t.type_check_only
class _OpMergeV2Checkpoints(_t.Protocol):
    """The partial checkpoints of several files merged into one checkpoint."""
    def __call__(self, checkpoint_prefixes: _t.Any, destination_prefix: _t.Any, *, allow_missing_files: bool = ..., delete_old_dirs: bool = ...) -> tuple[()]: ...
MergeV2Checkpoints: _OpMergeV2Checkpoints

@_t.type_check_only
class _OpMin(_t.Protocol):
    """The minimum along axes; NaN if an element is NaN."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Min: _OpMin

@_t.type_check_only
class _OpMinimum(_t.Protocol):
    """The smaller one; NaN if either is NaN."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Minimum: _OpMinimum

@_t.type_check_only
class _OpMirrorPad(_t.Protocol):
    """The tensor extended by its reflections."""
    def __call__(self, input: _t.Any, paddings: _t.Any, *, mode: str) -> _n.Tensor: ...
MirrorPad: _OpMirrorPad

@_t.type_check_only
class _OpMirrorPadGrad(_t.Protocol):
    """The gradient of `MirrorPad`."""
    def __call__(self, input: _t.Any, paddings: _t.Any, *, mode: str) -> _n.Tensor: ...
MirrorPadGrad: _OpMirrorPadGrad

@_t.type_check_only
class _OpMod(_t.Protocol):
    """The remainder with the dividend's sign; an old name of `TruncateMod`."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Mod: _OpMod

@_t.type_check_only
class _OpMul(_t.Protocol):
    """The product."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Mul: _OpMul

@_t.type_check_only
class _OpMulNoNan(_t.Protocol):
    """The product, 0 where the second factor is 0."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
MulNoNan: _OpMulNoNan

@_t.type_check_only
class _OpMultinomial(_t.Protocol):
    """Class numbers, drawn by logits."""
    def __call__(self, logits: _t.Any, num_samples: _t.Any, *, output_dtype: _t.Any = ..., seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
Multinomial: _OpMultinomial

@_t.type_check_only
class _OpMutableDenseHashTableV2(_t.Protocol):
    """A mutable table of tensors. The empty and the deleted key, which mark free slots in TensorFlow, are ordinary keys here."""
    def __call__(self, empty_key: _t.Any, deleted_key: _t.Any, *, container: str = ..., initial_num_buckets: int = ..., max_load_factor: float = ..., shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any, value_shape: _Dims = ...) -> _n.Tensor: ...
MutableDenseHashTableV2: _OpMutableDenseHashTableV2

@_t.type_check_only
class _OpMutableHashTable(_t.Protocol):
    """A mutable table, by reference."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any) -> _n.Tensor: ...
MutableHashTable: _OpMutableHashTable

@_t.type_check_only
class _OpMutableHashTableOfTensors(_t.Protocol):
    """A mutable table of tensors of one shape, by reference."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any, value_shape: _Dims = ...) -> _n.Tensor: ...
MutableHashTableOfTensors: _OpMutableHashTableOfTensors

@_t.type_check_only
class _OpMutableHashTableOfTensorsV2(_t.Protocol):
    """A mutable table of tensors of one shape."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any, value_shape: _Dims = ...) -> _n.Tensor: ...
MutableHashTableOfTensorsV2: _OpMutableHashTableOfTensorsV2

@_t.type_check_only
class _OpMutableHashTableV2(_t.Protocol):
    """A mutable table."""
    def __call__(self, *, container: str = ..., key_dtype: _t.Any, shared_name: str = ..., use_node_name_sharing: bool = ..., value_dtype: _t.Any) -> _n.Tensor: ...
MutableHashTableV2: _OpMutableHashTableV2

@_t.type_check_only
class _OpNdtri(_t.Protocol):
    """The quantile function of the normal distribution."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Ndtri: _OpNdtri

@_t.type_check_only
class _OpNeg(_t.Protocol):
    """The negative."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Neg: _OpNeg

@_t.type_check_only
class _OpNextAfter(_t.Protocol):
    """The next representable number in the direction of another."""
    def __call__(self, x1: _t.Any, x2: _t.Any) -> _n.Tensor: ...
NextAfter: _OpNextAfter

@_t.type_check_only
class _OpNoOp(_t.Protocol):
    """No operation; a node for control edges."""
    def __call__(self) -> tuple[()]: ...
NoOp: _OpNoOp

@_t.type_check_only
class _OpNonDeterministicInts(_t.Protocol):
    """Random integers of the whole range of the type, different ones in each run."""
    def __call__(self, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
NonDeterministicInts: _OpNonDeterministicInts

@_t.type_check_only
class _OpNonMaxSuppression(_t.Protocol):
    """Boxes that do not overlap a selected box of a higher score."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size: _t.Any, *, iou_threshold: float = ...) -> _n.Tensor: ...
NonMaxSuppression: _OpNonMaxSuppression

@_t.type_check_only
class _OpNonMaxSuppressionV2(_t.Protocol):
    """Boxes that do not overlap a selected box of a higher score."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size: _t.Any, iou_threshold: _t.Any) -> _n.Tensor: ...
NonMaxSuppressionV2: _OpNonMaxSuppressionV2

@_t.type_check_only
class _OpNonMaxSuppressionV3(_t.Protocol):
    """Boxes above a score that do not overlap a selected box of a higher score."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size: _t.Any, iou_threshold: _t.Any, score_threshold: _t.Any) -> _n.Tensor: ...
NonMaxSuppressionV3: _OpNonMaxSuppressionV3

@_t.type_check_only
class _OpNonMaxSuppressionV4(_t.Protocol):
    """Boxes above a score that do not overlap a selected box of a higher score, and their number."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size: _t.Any, iou_threshold: _t.Any, score_threshold: _t.Any, *, pad_to_max_output_size: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
NonMaxSuppressionV4: _OpNonMaxSuppressionV4

@_t.type_check_only
class _OpNonMaxSuppressionV5(_t.Protocol):
    """Boxes above a score, where overlap with a selected box excludes a box or lowers its score; their scores and number."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_size: _t.Any, iou_threshold: _t.Any, score_threshold: _t.Any, soft_nms_sigma: _t.Any, *, pad_to_max_output_size: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
NonMaxSuppressionV5: _OpNonMaxSuppressionV5

@_t.type_check_only
class _OpNonMaxSuppressionWithOverlaps(_t.Protocol):
    """Boxes above a score that do not overlap a selected box of a higher score, by a matrix of overlaps."""
    def __call__(self, overlaps: _t.Any, scores: _t.Any, max_output_size: _t.Any, overlap_threshold: _t.Any, score_threshold: _t.Any) -> _n.Tensor: ...
NonMaxSuppressionWithOverlaps: _OpNonMaxSuppressionWithOverlaps

@_t.type_check_only
class _OpNotEqual(_t.Protocol):
    """Whether elements differ."""
    def __call__(self, x: _t.Any, y: _t.Any, *, incompatible_shape_error: bool = ...) -> _n.Tensor: ...
NotEqual: _OpNotEqual

@_t.type_check_only
class _OpNthElement(_t.Protocol):
    """The elements at a position of the sorted rows."""
    def __call__(self, input: _t.Any, n: _t.Any, *, reverse: bool = ...) -> _n.Tensor: ...
NthElement: _OpNthElement

@_t.type_check_only
class _OpOneHot(_t.Protocol):
    """For each index, a row with one value at the index and another elsewhere."""
    def __call__(self, indices: _t.Any, depth: _t.Any, on_value: _t.Any, off_value: _t.Any, *, axis: int = ...) -> _n.Tensor: ...
OneHot: _OpOneHot

@_t.type_check_only
class _OpOnesLike(_t.Protocol):
    """Ones in the shape of the operand."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
OnesLike: _OpOnesLike

@_t.type_check_only
class _OpOptionalFromValue(_t.Protocol):
    """An optional that holds values."""
    def __call__(self, *operands: _t.Any, components: _t.Any = ...) -> _n.Tensor: ...
OptionalFromValue: _OpOptionalFromValue

@_t.type_check_only
class _OpOptionalGetValue(_t.Protocol):
    """The values of an optional; an error if it is empty."""
    def __call__(self, optional: _t.Any, *, output_shapes: _t.Sequence[_Dims], output_types: _t.Sequence[_t.Any]) -> _t.Any: ...
OptionalGetValue: _OpOptionalGetValue

@_t.type_check_only
class _OpOptionalHasValue(_t.Protocol):
    """Whether an optional holds values."""
    def __call__(self, optional: _t.Any) -> _n.Tensor: ...
OptionalHasValue: _OpOptionalHasValue

@_t.type_check_only
class _OpOptionalNone(_t.Protocol):
    """An empty optional."""
    def __call__(self) -> _n.Tensor: ...
OptionalNone: _OpOptionalNone

@_t.type_check_only
class _OpPack(_t.Protocol):
    """Tensors of one shape stacked along a new axis."""
    def __call__(self, *operands: _t.Any, values: _t.Any = ..., axis: int = ...) -> _n.Tensor: ...
Pack: _OpPack

@_t.type_check_only
class _OpPad(_t.Protocol):
    """The tensor extended by zeros."""
    def __call__(self, input: _t.Any, paddings: _t.Any) -> _n.Tensor: ...
Pad: _OpPad

@_t.type_check_only
class _OpPadV2(_t.Protocol):
    """The tensor extended by a value."""
    def __call__(self, input: _t.Any, paddings: _t.Any, constant_values: _t.Any) -> _n.Tensor: ...
PadV2: _OpPadV2

@_t.type_check_only
class _OpParallelConcat(_t.Protocol):
    """Tensors of one row joined along the first axis."""
    def __call__(self, *operands: _t.Any, values: _t.Any = ..., shape: _Dims) -> _n.Tensor: ...
ParallelConcat: _OpParallelConcat

@_t.type_check_only
class _OpParallelDynamicStitch(_t.Protocol):
    """Rows of several tensors merged by index."""
    def __call__(self, indices: _t.Sequence[_t.Any], data: _t.Sequence[_t.Any]) -> _n.Tensor: ...
ParallelDynamicStitch: _OpParallelDynamicStitch

@_t.type_check_only
class _OpParameterizedTruncatedNormal(_t.Protocol):
    """Random numbers of normal distributions between ends, for each position along the first axis."""
    def __call__(self, shape: _t.Any, means: _t.Any, stdevs: _t.Any, minvals: _t.Any, maxvals: _t.Any, *, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
ParameterizedTruncatedNormal: _OpParameterizedTruncatedNormal

@_t.type_check_only
class _OpParseExample(_t.Protocol):
    """The features of serialized examples."""
    def __call__(self, serialized: _t.Any, names: _t.Any, sparse_keys: _t.Sequence[_t.Any], dense_keys: _t.Sequence[_t.Any], dense_defaults: _t.Sequence[_t.Any], *, dense_shapes: _t.Sequence[_Dims], sparse_types: _t.Sequence[_t.Any]) -> _t.Any: ...
ParseExample: _OpParseExample

@_t.type_check_only
class _OpParseExampleV2(_t.Protocol):
    """The features of serialized examples, some of them ragged."""
    def __call__(self, *operands: _t.Any, serialized: _t.Any = ..., names: _t.Any = ..., sparse_keys: _t.Any = ..., dense_keys: _t.Any = ..., ragged_keys: _t.Any = ..., dense_defaults: _t.Any = ..., dense_shapes: _t.Sequence[_Dims], num_sparse: int, ragged_split_types: _t.Sequence[_t.Any], ragged_value_types: _t.Sequence[_t.Any], sparse_types: _t.Sequence[_t.Any]) -> _t.Any: ...
ParseExampleV2: _OpParseExampleV2

@_t.type_check_only
class _OpParseSequenceExample(_t.Protocol):
    """The features of serialized examples, and their lists of features over time."""
    def __call__(self, *operands: _t.Any, serialized: _t.Any = ..., debug_name: _t.Any = ..., context_dense_defaults: _t.Any = ..., Ncontext_dense: int = ..., Ncontext_sparse: int = ..., Nfeature_list_dense: int = ..., Nfeature_list_sparse: int = ..., context_dense_keys: _t.Sequence[str], context_dense_shapes: _t.Sequence[_Dims] = ..., context_sparse_keys: _t.Sequence[str], context_sparse_types: _t.Sequence[_t.Any] = ..., feature_list_dense_keys: _t.Sequence[str], feature_list_dense_missing_assumed_empty: _t.Sequence[str], feature_list_dense_shapes: _t.Sequence[_Dims] = ..., feature_list_dense_types: _t.Sequence[_t.Any] = ..., feature_list_sparse_keys: _t.Sequence[str], feature_list_sparse_types: _t.Sequence[_t.Any] = ...) -> _t.Any: ...
ParseSequenceExample: _OpParseSequenceExample

@_t.type_check_only
class _OpParseSequenceExampleV2(_t.Protocol):
    """The features of serialized examples, and their lists of features over time, some of them ragged."""
    def __call__(self, *operands: _t.Any, serialized: _t.Any = ..., debug_name: _t.Any = ..., context_sparse_keys: _t.Any = ..., context_dense_keys: _t.Any = ..., context_ragged_keys: _t.Any = ..., feature_list_sparse_keys: _t.Any = ..., feature_list_dense_keys: _t.Any = ..., feature_list_ragged_keys: _t.Any = ..., feature_list_dense_missing_assumed_empty: _t.Any = ..., context_dense_defaults: _t.Any = ..., Ncontext_sparse: int = ..., Nfeature_list_dense: int = ..., Nfeature_list_sparse: int = ..., context_dense_shapes: _t.Sequence[_Dims] = ..., context_ragged_split_types: _t.Sequence[_t.Any] = ..., context_ragged_value_types: _t.Sequence[_t.Any] = ..., context_sparse_types: _t.Sequence[_t.Any] = ..., feature_list_dense_shapes: _t.Sequence[_Dims] = ..., feature_list_dense_types: _t.Sequence[_t.Any] = ..., feature_list_ragged_split_types: _t.Sequence[_t.Any] = ..., feature_list_ragged_value_types: _t.Sequence[_t.Any] = ..., feature_list_sparse_types: _t.Sequence[_t.Any] = ...) -> _t.Any: ...
ParseSequenceExampleV2: _OpParseSequenceExampleV2

@_t.type_check_only
class _OpParseSingleExample(_t.Protocol):
    """The features of one serialized example."""
    def __call__(self, *operands: _t.Any, serialized: _t.Any = ..., dense_defaults: _t.Any = ..., dense_keys: _t.Sequence[str], dense_shapes: _t.Sequence[_Dims], num_sparse: int, sparse_keys: _t.Sequence[str], sparse_types: _t.Sequence[_t.Any]) -> _t.Any: ...
ParseSingleExample: _OpParseSingleExample

@_t.type_check_only
class _OpParseSingleSequenceExample(_t.Protocol):
    """The features of one serialized example, and its lists of features over time."""
    def __call__(self, serialized: _t.Any, feature_list_dense_missing_assumed_empty: _t.Any, context_sparse_keys: _t.Sequence[_t.Any], context_dense_keys: _t.Sequence[_t.Any], feature_list_sparse_keys: _t.Sequence[_t.Any], feature_list_dense_keys: _t.Sequence[_t.Any], context_dense_defaults: _t.Sequence[_t.Any], debug_name: _t.Any, *, context_dense_shapes: _t.Sequence[_Dims] = ..., context_sparse_types: _t.Sequence[_t.Any] = ..., feature_list_dense_shapes: _t.Sequence[_Dims] = ..., feature_list_dense_types: _t.Sequence[_t.Any] = ..., feature_list_sparse_types: _t.Sequence[_t.Any] = ...) -> _t.Any: ...
ParseSingleSequenceExample: _OpParseSingleSequenceExample

@_t.type_check_only
class _OpParseTensor(_t.Protocol):
    """The tensor that a serialized message describes."""
    def __call__(self, serialized: _t.Any, *, out_type: _t.Any) -> _n.Tensor: ...
ParseTensor: _OpParseTensor

@_t.type_check_only
class _OpPartitionedCall(_t.Protocol):
    """The call of a function."""
    def __call__(self, *operands: _t.Any, args: _t.Any = ..., Tout: _t.Sequence[_t.Any], config: str = ..., config_proto: str = ..., executor_type: str = ..., f: _t.Any) -> _t.Any: ...
PartitionedCall: _OpPartitionedCall

@_t.type_check_only
class _OpPlaceholderWithDefault(_t.Protocol):
    """An input of the graph with a default value."""
    def __call__(self, input: _t.Any, *, shape: _Dims) -> _n.Tensor: ...
PlaceholderWithDefault: _OpPlaceholderWithDefault

@_t.type_check_only
class _OpPolygamma(_t.Protocol):
    """The derivative of the digamma function, of order a."""
    def __call__(self, a: _t.Any, x: _t.Any) -> _n.Tensor: ...
Polygamma: _OpPolygamma

@_t.type_check_only
class _OpPopulationCount(_t.Protocol):
    """The number of bits of an integer that are set."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
PopulationCount: _OpPopulationCount

@_t.type_check_only
class _OpPow(_t.Protocol):
    """The power."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Pow: _OpPow

@_t.type_check_only
class _OpPreventGradient(_t.Protocol):
    """The operand; differentiating it is an error."""
    def __call__(self, input: _t.Any, *, message: str = ...) -> _n.Tensor: ...
PreventGradient: _OpPreventGradient

@_t.type_check_only
class _OpPrint(_t.Protocol):
    """The operand; values are printed to standard error."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., data: _t.Any = ..., first_n: int = ..., message: str = ..., summarize: int = ...) -> _n.Tensor: ...
Print: _OpPrint

@_t.type_check_only
class _OpPrintV2(_t.Protocol):
    """A string printed."""
    def __call__(self, input: _t.Any, *, end: str = ..., output_stream: str = ...) -> tuple[()]: ...
PrintV2: _OpPrintV2

@_t.type_check_only
class _OpProd(_t.Protocol):
    """The product along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Prod: _OpProd

@_t.type_check_only
class _OpQr(_t.Protocol):
    """The orthogonal and the upper triangular factors of matrices."""
    def __call__(self, input: _t.Any, *, full_matrices: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
Qr: _OpQr

@_t.type_check_only
class _OpQuantizeAndDequantizeV2(_t.Protocol):
    """Numbers rounded to multiples of a step, by which quantized integers cover a range."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any, *, axis: int = ..., narrow_range: bool = ..., num_bits: int = ..., range_given: bool = ..., round_mode: str = ..., signed_input: bool = ...) -> _n.Tensor: ...
QuantizeAndDequantizeV2: _OpQuantizeAndDequantizeV2

@_t.type_check_only
class _OpQuantizeAndDequantizeV3(_t.Protocol):
    """`QuantizeAndDequantizeV2` with the number of bits as an operand."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any, num_bits: _t.Any, *, axis: int = ..., narrow_range: bool = ..., range_given: bool = ..., signed_input: bool = ...) -> _n.Tensor: ...
QuantizeAndDequantizeV3: _OpQuantizeAndDequantizeV3

@_t.type_check_only
class _OpQuantizeAndDequantizeV4(_t.Protocol):
    """`QuantizeAndDequantizeV2`, whose gradient is 0 outside of the range."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any, *, axis: int = ..., narrow_range: bool = ..., num_bits: int = ..., range_given: bool = ..., round_mode: str = ..., signed_input: bool = ...) -> _n.Tensor: ...
QuantizeAndDequantizeV4: _OpQuantizeAndDequantizeV4

@_t.type_check_only
class _OpQuantizeAndDequantizeV4Grad(_t.Protocol):
    """The gradients of `QuantizeAndDequantizeV4`."""
    def __call__(self, gradients: _t.Any, input: _t.Any, input_min: _t.Any, input_max: _t.Any, *, axis: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizeAndDequantizeV4Grad: _OpQuantizeAndDequantizeV4Grad

@_t.type_check_only
class _OpQuantizeDownAndShrinkRange(_t.Protocol):
    """Quantized integers of a narrower type and of the range of the tensor's numbers."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any, *, out_type: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizeDownAndShrinkRange: _OpQuantizeDownAndShrinkRange

@_t.type_check_only
class _OpQuantizeV2(_t.Protocol):
    """The quantized integers that stand for numbers, and the ends of their range."""
    def __call__(self, input: _t.Any, min_range: _t.Any, max_range: _t.Any, *, T: _t.Any, axis: int = ..., ensure_minimum_range: float = ..., mode: str = ..., narrow_range: bool = ..., round_mode: str = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizeV2: _OpQuantizeV2

@_t.type_check_only
class _OpQuantizedAdd(_t.Protocol):
    """The sums of quantized numbers, and their range."""
    def __call__(self, x: _t.Any, y: _t.Any, min_x: _t.Any, max_x: _t.Any, min_y: _t.Any, max_y: _t.Any, *, Toutput: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedAdd: _OpQuantizedAdd

@_t.type_check_only
class _OpQuantizedAvgPool(_t.Protocol):
    """The mean of the quantized numbers of each window."""
    def __call__(self, input: _t.Any, min_input: _t.Any, max_input: _t.Any, *, ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedAvgPool: _OpQuantizedAvgPool

@_t.type_check_only
class _OpQuantizedBatchNormWithGlobalNormalization(_t.Protocol):
    """Quantized images normalized by mean, variance, offset and factor of each channel."""
    def __call__(self, t: _t.Any, t_min: _t.Any, t_max: _t.Any, m: _t.Any, m_min: _t.Any, m_max: _t.Any, v: _t.Any, v_min: _t.Any, v_max: _t.Any, beta: _t.Any, beta_min: _t.Any, beta_max: _t.Any, gamma: _t.Any, gamma_min: _t.Any, gamma_max: _t.Any, *, out_type: _t.Any, scale_after_normalization: bool, variance_epsilon: float) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedBatchNormWithGlobalNormalization: _OpQuantizedBatchNormWithGlobalNormalization

@_t.type_check_only
class _OpQuantizedBiasAdd(_t.Protocol):
    """Quantized numbers plus one bias for each index of the last axis."""
    def __call__(self, input: _t.Any, bias: _t.Any, min_input: _t.Any, max_input: _t.Any, min_bias: _t.Any, max_bias: _t.Any, *, out_type: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedBiasAdd: _OpQuantizedBiasAdd

@_t.type_check_only
class _OpQuantizedConcat(_t.Protocol):
    """Quantized tensors joined along an axis, in a common range."""
    def __call__(self, concat_dim: _t.Any, values: _t.Sequence[_t.Any], input_mins: _t.Sequence[_t.Any], input_maxes: _t.Sequence[_t.Any]) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedConcat: _OpQuantizedConcat

@_t.type_check_only
class _OpQuantizedConv2D(_t.Protocol):
    """The convolution of quantized images with quantized filters, and its range."""
    def __call__(self, input: _t.Any, filter: _t.Any, min_input: _t.Any, max_input: _t.Any, min_filter: _t.Any, max_filter: _t.Any, *, dilations: _t.Sequence[int] = ..., out_type: _t.Any = ..., padding: str, strides: _t.Sequence[int]) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedConv2D: _OpQuantizedConv2D

@_t.type_check_only
class _OpQuantizedInstanceNorm(_t.Protocol):
    """Quantized images, each channel of an image normalized to mean 0 and variance 1."""
    def __call__(self, x: _t.Any, x_min: _t.Any, x_max: _t.Any, *, given_y_max: float = ..., given_y_min: float = ..., min_separation: float = ..., output_range_given: bool = ..., variance_epsilon: float = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedInstanceNorm: _OpQuantizedInstanceNorm

@_t.type_check_only
class _OpQuantizedMatMul(_t.Protocol):
    """The products of quantized matrices, and their range."""
    def __call__(self, a: _t.Any, b: _t.Any, min_a: _t.Any, max_a: _t.Any, min_b: _t.Any, max_b: _t.Any, *, Tactivation: _t.Any = ..., Toutput: _t.Any = ..., transpose_a: bool = ..., transpose_b: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedMatMul: _OpQuantizedMatMul

@_t.type_check_only
class _OpQuantizedMaxPool(_t.Protocol):
    """The largest quantized number of each window."""
    def __call__(self, input: _t.Any, min_input: _t.Any, max_input: _t.Any, *, ksize: _t.Sequence[int], padding: str, strides: _t.Sequence[int]) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedMaxPool: _OpQuantizedMaxPool

@_t.type_check_only
class _OpQuantizedMul(_t.Protocol):
    """The products of quantized numbers, and their range."""
    def __call__(self, x: _t.Any, y: _t.Any, min_x: _t.Any, max_x: _t.Any, min_y: _t.Any, max_y: _t.Any, *, Toutput: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedMul: _OpQuantizedMul

@_t.type_check_only
class _OpQuantizedRelu(_t.Protocol):
    """The larger of quantized numbers and 0."""
    def __call__(self, features: _t.Any, min_features: _t.Any, max_features: _t.Any, *, out_type: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedRelu: _OpQuantizedRelu

@_t.type_check_only
class _OpQuantizedRelu6(_t.Protocol):
    """Quantized numbers clamped to 0 and 6."""
    def __call__(self, features: _t.Any, min_features: _t.Any, max_features: _t.Any, *, out_type: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedRelu6: _OpQuantizedRelu6

@_t.type_check_only
class _OpQuantizedReluX(_t.Protocol):
    """Quantized numbers clamped to 0 and a maximum."""
    def __call__(self, features: _t.Any, max_value: _t.Any, min_features: _t.Any, max_features: _t.Any, *, out_type: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedReluX: _OpQuantizedReluX

@_t.type_check_only
class _OpQuantizedReshape(_t.Protocol):
    """A quantized tensor in another shape."""
    def __call__(self, tensor: _t.Any, shape: _t.Any, input_min: _t.Any, input_max: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedReshape: _OpQuantizedReshape

@_t.type_check_only
class _OpQuantizedResizeBilinear(_t.Protocol):
    """Quantized images in another size, interpolated between two pixels along each axis."""
    def __call__(self, images: _t.Any, size: _t.Any, min: _t.Any, max: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
QuantizedResizeBilinear: _OpQuantizedResizeBilinear

@_t.type_check_only
class _OpRFFT(_t.Protocol):
    """The Fourier transform of real numbers along the last axis."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Tcomplex: _t.Any = ...) -> _n.Tensor: ...
RFFT: _OpRFFT

@_t.type_check_only
class _OpRFFT2D(_t.Protocol):
    """The Fourier transform of real numbers along the last two axes."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Tcomplex: _t.Any = ...) -> _n.Tensor: ...
RFFT2D: _OpRFFT2D

@_t.type_check_only
class _OpRFFT3D(_t.Protocol):
    """The Fourier transform of real numbers along the last three axes."""
    def __call__(self, input: _t.Any, fft_length: _t.Any, *, Tcomplex: _t.Any = ...) -> _n.Tensor: ...
RFFT3D: _OpRFFT3D

@_t.type_check_only
class _OpRGBToHSV(_t.Protocol):
    """Hue, saturation and value of colors."""
    def __call__(self, images: _t.Any) -> _n.Tensor: ...
RGBToHSV: _OpRGBToHSV

@_t.type_check_only
class _OpRaggedBincount(_t.Protocol):
    """For each row of a ragged tensor, the number of occurrences, or the sum of weights, of each small integer."""
    def __call__(self, splits: _t.Any, values: _t.Any, size: _t.Any, weights: _t.Any, *, binary_output: bool = ...) -> _n.Tensor: ...
RaggedBincount: _OpRaggedBincount

@_t.type_check_only
class _OpRaggedCountSparseOutput(_t.Protocol):
    """How often each value occurs in its row of a ragged tensor, as a sparse tensor."""
    def __call__(self, splits: _t.Any, values: _t.Any, weights: _t.Any, *, binary_output: bool, maxlength: int = ..., minlength: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
RaggedCountSparseOutput: _OpRaggedCountSparseOutput

@_t.type_check_only
class _OpRaggedGather(_t.Protocol):
    """The rows of a ragged tensor at the given indices."""
    def __call__(self, *operands: _t.Any, params_nested_splits: _t.Any = ..., params_dense_values: _t.Any = ..., indices: _t.Any = ..., OUTPUT_RAGGED_RANK: int) -> _t.Any: ...
RaggedGather: _OpRaggedGather

@_t.type_check_only
class _OpRaggedRange(_t.Protocol):
    """Rows of numbers from starts to limits."""
    def __call__(self, starts: _t.Any, limits: _t.Any, deltas: _t.Any, *, Tsplits: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
RaggedRange: _OpRaggedRange

@_t.type_check_only
class _OpRaggedTensorToSparse(_t.Protocol):
    """The sparse tensor with the values of a ragged one."""
    def __call__(self, *operands: _t.Any, rt_nested_splits: _t.Any = ..., rt_dense_values: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
RaggedTensorToSparse: _OpRaggedTensorToSparse

@_t.type_check_only
class _OpRaggedTensorToTensor(_t.Protocol):
    """The values of a ragged tensor in rows of equal lengths."""
    def __call__(self, *operands: _t.Any, shape: _t.Any = ..., values: _t.Any = ..., default_value: _t.Any = ..., row_partition_tensors: _t.Any = ..., row_partition_types: _t.Sequence[str]) -> _n.Tensor: ...
RaggedTensorToTensor: _OpRaggedTensorToTensor

@_t.type_check_only
class _OpRandomGamma(_t.Protocol):
    """Random numbers of gamma distributions, samples for each parameter."""
    def __call__(self, shape: _t.Any, alpha: _t.Any, *, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomGamma: _OpRandomGamma

@_t.type_check_only
class _OpRandomGammaGrad(_t.Protocol):
    """The derivative of samples of gamma distributions by the distributions' parameters."""
    def __call__(self, alpha: _t.Any, sample: _t.Any) -> _n.Tensor: ...
RandomGammaGrad: _OpRandomGammaGrad

@_t.type_check_only
class _OpRandomPoisson(_t.Protocol):
    """Random numbers of Poisson distributions, samples for each rate."""
    def __call__(self, shape: _t.Any, rate: _t.Any, *, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomPoisson: _OpRandomPoisson

@_t.type_check_only
class _OpRandomPoissonV2(_t.Protocol):
    """Random numbers of Poisson distributions, samples for each rate."""
    def __call__(self, shape: _t.Any, rate: _t.Any, *, dtype: _t.Any = ..., seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomPoissonV2: _OpRandomPoissonV2

@_t.type_check_only
class _OpRandomShuffle(_t.Protocol):
    """The slices along the first axis in a random order."""
    def __call__(self, value: _t.Any, *, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomShuffle: _OpRandomShuffle

@_t.type_check_only
class _OpRandomStandardNormal(_t.Protocol):
    """Random numbers of the normal distribution."""
    def __call__(self, shape: _t.Any, *, dtype: _t.Any, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomStandardNormal: _OpRandomStandardNormal

@_t.type_check_only
class _OpRandomUniform(_t.Protocol):
    """Random numbers of the uniform distribution on [0, 1)."""
    def __call__(self, shape: _t.Any, *, dtype: _t.Any, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomUniform: _OpRandomUniform

@_t.type_check_only
class _OpRandomUniformInt(_t.Protocol):
    """Random integers of the uniform distribution."""
    def __call__(self, shape: _t.Any, minval: _t.Any, maxval: _t.Any, *, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
RandomUniformInt: _OpRandomUniformInt

@_t.type_check_only
class _OpRange(_t.Protocol):
    """Numbers from a start to a limit by a step."""
    def __call__(self, start: _t.Any, limit: _t.Any, delta: _t.Any) -> _n.Tensor: ...
Range: _OpRange

@_t.type_check_only
class _OpRank(_t.Protocol):
    """The number of axes."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Rank: _OpRank

@_t.type_check_only
class _OpReadVariableOp(_t.Protocol):
    """The value of a variable."""
    def __call__(self, resource: _t.Any, *, dtype: _t.Any) -> _n.Tensor: ...
ReadVariableOp: _OpReadVariableOp

@_t.type_check_only
class _OpReal(_t.Protocol):
    """The real part of a complex number."""
    def __call__(self, input: _t.Any, *, Tout: _t.Any = ...) -> _n.Tensor: ...
Real: _OpReal

@_t.type_check_only
class _OpRealDiv(_t.Protocol):
    """The quotient of real or complex numbers."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
RealDiv: _OpRealDiv

@_t.type_check_only
class _OpReciprocal(_t.Protocol):
    """1 / x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Reciprocal: _OpReciprocal

@_t.type_check_only
class _OpReciprocalGrad(_t.Protocol):
    """The gradient of `Reciprocal`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
ReciprocalGrad: _OpReciprocalGrad

@_t.type_check_only
class _OpReduceJoin(_t.Protocol):
    """Strings joined along axes."""
    def __call__(self, inputs: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ..., separator: str = ...) -> _n.Tensor: ...
ReduceJoin: _OpReduceJoin

@_t.type_check_only
class _OpRefIdentity(_t.Protocol):
    """A reference."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
RefIdentity: _OpRefIdentity

@_t.type_check_only
class _OpRefSelect(_t.Protocol):
    """One of several references, by number."""
    def __call__(self, *operands: _t.Any, index: _t.Any = ..., inputs: _t.Any = ...) -> _n.Tensor: ...
RefSelect: _OpRefSelect

@_t.type_check_only
class _OpRegexFullMatch(_t.Protocol):
    """Whether each whole string matches a pattern."""
    def __call__(self, input: _t.Any, pattern: _t.Any) -> _n.Tensor: ...
RegexFullMatch: _OpRegexFullMatch

@_t.type_check_only
class _OpRegexReplace(_t.Protocol):
    """Strings whose matches of a pattern are replaced."""
    def __call__(self, input: _t.Any, pattern: _t.Any, rewrite: _t.Any, *, replace_global: bool = ...) -> _n.Tensor: ...
RegexReplace: _OpRegexReplace

@_t.type_check_only
class _OpRelu(_t.Protocol):
    """The rectified linear unit, max(x, 0)."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Relu: _OpRelu

@_t.type_check_only
class _OpRelu6(_t.Protocol):
    """The rectified linear unit with an upper bound, min(max(x, 0), 6)."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Relu6: _OpRelu6

@_t.type_check_only
class _OpRelu6Grad(_t.Protocol):
    """The gradient of `Relu6`, of dy and x or y."""
    def __call__(self, gradients: _t.Any, features: _t.Any) -> _n.Tensor: ...
Relu6Grad: _OpRelu6Grad

@_t.type_check_only
class _OpReluGrad(_t.Protocol):
    """The gradient of `Relu`, of dy and x or y."""
    def __call__(self, gradients: _t.Any, features: _t.Any) -> _n.Tensor: ...
ReluGrad: _OpReluGrad

@_t.type_check_only
class _OpRequantizationRange(_t.Protocol):
    """The range of the numbers for which quantized integers stand."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
RequantizationRange: _OpRequantizationRange

@_t.type_check_only
class _OpRequantize(_t.Protocol):
    """Quantized integers of a narrower type and of a requested range."""
    def __call__(self, input: _t.Any, input_min: _t.Any, input_max: _t.Any, requested_output_min: _t.Any, requested_output_max: _t.Any, *, out_type: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
Requantize: _OpRequantize

@_t.type_check_only
class _OpReshape(_t.Protocol):
    """The operand in another shape."""
    def __call__(self, tensor: _t.Any, shape: _t.Any) -> _n.Tensor: ...
Reshape: _OpReshape

@_t.type_check_only
class _OpResizeArea(_t.Protocol):
    """Images in another size, with the mean of the area that a pixel covers."""
    def __call__(self, images: _t.Any, size: _t.Any, *, align_corners: bool = ...) -> _n.Tensor: ...
ResizeArea: _OpResizeArea

@_t.type_check_only
class _OpResizeBicubic(_t.Protocol):
    """Images in another size, interpolated by cubic polynomials."""
    def __call__(self, images: _t.Any, size: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeBicubic: _OpResizeBicubic

@_t.type_check_only
class _OpResizeBicubicGrad(_t.Protocol):
    """The gradient of `ResizeBicubic`."""
    def __call__(self, grads: _t.Any, original_image: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeBicubicGrad: _OpResizeBicubicGrad

@_t.type_check_only
class _OpResizeBilinear(_t.Protocol):
    """Images in another size, interpolated between four pixels."""
    def __call__(self, images: _t.Any, size: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeBilinear: _OpResizeBilinear

@_t.type_check_only
class _OpResizeBilinearGrad(_t.Protocol):
    """The gradient of `ResizeBilinear`."""
    def __call__(self, grads: _t.Any, original_image: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeBilinearGrad: _OpResizeBilinearGrad

@_t.type_check_only
class _OpResizeNearestNeighbor(_t.Protocol):
    """Images in another size, with the pixel of the nearest position."""
    def __call__(self, images: _t.Any, size: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeNearestNeighbor: _OpResizeNearestNeighbor

@_t.type_check_only
class _OpResizeNearestNeighborGrad(_t.Protocol):
    """The gradient of `ResizeNearestNeighbor`."""
    def __call__(self, grads: _t.Any, size: _t.Any, *, align_corners: bool = ..., half_pixel_centers: bool = ...) -> _n.Tensor: ...
ResizeNearestNeighborGrad: _OpResizeNearestNeighborGrad

@_t.type_check_only
class _OpResourceApplyAdaMax(_t.Protocol):
    """A step of AdaMax on a variable."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, beta1_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAdaMax: _OpResourceApplyAdaMax

@_t.type_check_only
class _OpResourceApplyAdadelta(_t.Protocol):
    """A step of Adadelta on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, accum_update: _t.Any, lr: _t.Any, rho: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAdadelta: _OpResourceApplyAdadelta

@_t.type_check_only
class _OpResourceApplyAdagrad(_t.Protocol):
    """A step of Adagrad on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAdagrad: _OpResourceApplyAdagrad

@_t.type_check_only
class _OpResourceApplyAdagradV2(_t.Protocol):
    """A step of Adagrad with an epsilon on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, epsilon: _t.Any, grad: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAdagradV2: _OpResourceApplyAdagradV2

@_t.type_check_only
class _OpResourceApplyAdam(_t.Protocol):
    """A step of Adam on a variable."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, beta1_power: _t.Any, beta2_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
ResourceApplyAdam: _OpResourceApplyAdam

@_t.type_check_only
class _OpResourceApplyAdamWithAmsgrad(_t.Protocol):
    """A step of Adam with the largest second moment on a variable."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, vhat: _t.Any, beta1_power: _t.Any, beta2_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAdamWithAmsgrad: _OpResourceApplyAdamWithAmsgrad

@_t.type_check_only
class _OpResourceApplyAddSign(_t.Protocol):
    """A step of AddSign on a variable."""
    def __call__(self, var: _t.Any, m: _t.Any, lr: _t.Any, alpha: _t.Any, sign_decay: _t.Any, beta: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyAddSign: _OpResourceApplyAddSign

@_t.type_check_only
class _OpResourceApplyCenteredRMSProp(_t.Protocol):
    """A step of centered RMSProp on a variable."""
    def __call__(self, var: _t.Any, mg: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyCenteredRMSProp: _OpResourceApplyCenteredRMSProp

@_t.type_check_only
class _OpResourceApplyFtrl(_t.Protocol):
    """A step of FTRL on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyFtrl: _OpResourceApplyFtrl

@_t.type_check_only
class _OpResourceApplyFtrlV2(_t.Protocol):
    """A step of FTRL with shrinkage on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, l2_shrinkage: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyFtrlV2: _OpResourceApplyFtrlV2

@_t.type_check_only
class _OpResourceApplyGradientDescent(_t.Protocol):
    """A step of gradient descent on a variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, delta: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyGradientDescent: _OpResourceApplyGradientDescent

@_t.type_check_only
class _OpResourceApplyKerasMomentum(_t.Protocol):
    """A step of gradient descent with Keras's momentum on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
ResourceApplyKerasMomentum: _OpResourceApplyKerasMomentum

@_t.type_check_only
class _OpResourceApplyMomentum(_t.Protocol):
    """A step of gradient descent with momentum on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
ResourceApplyMomentum: _OpResourceApplyMomentum

@_t.type_check_only
class _OpResourceApplyPowerSign(_t.Protocol):
    """A step of PowerSign on a variable."""
    def __call__(self, var: _t.Any, m: _t.Any, lr: _t.Any, logbase: _t.Any, sign_decay: _t.Any, beta: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyPowerSign: _OpResourceApplyPowerSign

@_t.type_check_only
class _OpResourceApplyProximalAdagrad(_t.Protocol):
    """A step of proximal Adagrad on a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyProximalAdagrad: _OpResourceApplyProximalAdagrad

@_t.type_check_only
class _OpResourceApplyProximalGradientDescent(_t.Protocol):
    """A step of proximal gradient descent on a variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, l1: _t.Any, l2: _t.Any, delta: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyProximalGradientDescent: _OpResourceApplyProximalGradientDescent

@_t.type_check_only
class _OpResourceApplyRMSProp(_t.Protocol):
    """A step of RMSProp on a variable."""
    def __call__(self, var: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceApplyRMSProp: _OpResourceApplyRMSProp

@_t.type_check_only
class _OpResourceCountUpTo(_t.Protocol):
    """A variable counted up to a limit."""
    def __call__(self, resource: _t.Any, *, T: _t.Any, limit: int) -> _n.Tensor: ...
ResourceCountUpTo: _OpResourceCountUpTo

@_t.type_check_only
class _OpResourceGather(_t.Protocol):
    """Rows of a variable by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, *, batch_dims: int = ..., dtype: _t.Any, validate_indices: bool = ...) -> _n.Tensor: ...
ResourceGather: _OpResourceGather

@_t.type_check_only
class _OpResourceGatherNd(_t.Protocol):
    """Slices of a variable by vectors of indices."""
    def __call__(self, resource: _t.Any, indices: _t.Any, *, dtype: _t.Any) -> _n.Tensor: ...
ResourceGatherNd: _OpResourceGatherNd

@_t.type_check_only
class _OpResourceScatterAdd(_t.Protocol):
    """Rows added to a variable by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterAdd: _OpResourceScatterAdd

@_t.type_check_only
class _OpResourceScatterDiv(_t.Protocol):
    """Rows of a variable divided by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterDiv: _OpResourceScatterDiv

@_t.type_check_only
class _OpResourceScatterMax(_t.Protocol):
    """The maximum of rows of a variable and others by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterMax: _OpResourceScatterMax

@_t.type_check_only
class _OpResourceScatterMin(_t.Protocol):
    """The minimum of rows of a variable and others by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterMin: _OpResourceScatterMin

@_t.type_check_only
class _OpResourceScatterMul(_t.Protocol):
    """Rows of a variable multiplied by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterMul: _OpResourceScatterMul

@_t.type_check_only
class _OpResourceScatterNdAdd(_t.Protocol):
    """Slices added to a variable by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceScatterNdAdd: _OpResourceScatterNdAdd

@_t.type_check_only
class _OpResourceScatterNdMax(_t.Protocol):
    """The maximum of slices of a variable and others by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceScatterNdMax: _OpResourceScatterNdMax

@_t.type_check_only
class _OpResourceScatterNdMin(_t.Protocol):
    """The minimum of slices of a variable and others by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceScatterNdMin: _OpResourceScatterNdMin

@_t.type_check_only
class _OpResourceScatterNdSub(_t.Protocol):
    """Slices subtracted from a variable by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceScatterNdSub: _OpResourceScatterNdSub

@_t.type_check_only
class _OpResourceScatterNdUpdate(_t.Protocol):
    """Slices of a variable replaced by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceScatterNdUpdate: _OpResourceScatterNdUpdate

@_t.type_check_only
class _OpResourceScatterSub(_t.Protocol):
    """Rows subtracted from a variable by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterSub: _OpResourceScatterSub

@_t.type_check_only
class _OpResourceScatterUpdate(_t.Protocol):
    """Rows of a variable replaced by index."""
    def __call__(self, resource: _t.Any, indices: _t.Any, updates: _t.Any) -> tuple[()]: ...
ResourceScatterUpdate: _OpResourceScatterUpdate

@_t.type_check_only
class _OpResourceSparseApplyAdadelta(_t.Protocol):
    """A step of Adadelta on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, accum_update: _t.Any, lr: _t.Any, rho: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyAdadelta: _OpResourceSparseApplyAdadelta

@_t.type_check_only
class _OpResourceSparseApplyAdagrad(_t.Protocol):
    """A step of Adagrad on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, indices: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyAdagrad: _OpResourceSparseApplyAdagrad

@_t.type_check_only
class _OpResourceSparseApplyAdagradV2(_t.Protocol):
    """A step of Adagrad with an epsilon on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyAdagradV2: _OpResourceSparseApplyAdagradV2

@_t.type_check_only
class _OpResourceSparseApplyCenteredRMSProp(_t.Protocol):
    """A step of centered RMSProp on rows of a variable."""
    def __call__(self, var: _t.Any, mg: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyCenteredRMSProp: _OpResourceSparseApplyCenteredRMSProp

@_t.type_check_only
class _OpResourceSparseApplyFtrl(_t.Protocol):
    """A step of FTRL on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, indices: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyFtrl: _OpResourceSparseApplyFtrl

@_t.type_check_only
class _OpResourceSparseApplyFtrlV2(_t.Protocol):
    """A step of FTRL with shrinkage on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, indices: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, l2_shrinkage: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyFtrlV2: _OpResourceSparseApplyFtrlV2

@_t.type_check_only
class _OpResourceSparseApplyKerasMomentum(_t.Protocol):
    """A step of gradient descent with Keras's momentum on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, indices: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
ResourceSparseApplyKerasMomentum: _OpResourceSparseApplyKerasMomentum

@_t.type_check_only
class _OpResourceSparseApplyMomentum(_t.Protocol):
    """A step of gradient descent with momentum on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, indices: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
ResourceSparseApplyMomentum: _OpResourceSparseApplyMomentum

@_t.type_check_only
class _OpResourceSparseApplyProximalAdagrad(_t.Protocol):
    """A step of proximal Adagrad on rows of a variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyProximalAdagrad: _OpResourceSparseApplyProximalAdagrad

@_t.type_check_only
class _OpResourceSparseApplyProximalGradientDescent(_t.Protocol):
    """A step of proximal gradient descent on rows of a variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyProximalGradientDescent: _OpResourceSparseApplyProximalGradientDescent

@_t.type_check_only
class _OpResourceSparseApplyRMSProp(_t.Protocol):
    """A step of RMSProp on rows of a variable."""
    def __call__(self, var: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> tuple[()]: ...
ResourceSparseApplyRMSProp: _OpResourceSparseApplyRMSProp

@_t.type_check_only
class _OpResourceStridedSliceAssign(_t.Protocol):
    """A strided part of a variable replaced."""
    def __call__(self, ref: _t.Any, begin: _t.Any, end: _t.Any, strides: _t.Any, value: _t.Any, *, begin_mask: int = ..., ellipsis_mask: int = ..., end_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ...) -> tuple[()]: ...
ResourceStridedSliceAssign: _OpResourceStridedSliceAssign

@_t.type_check_only
class _OpRestoreV2(_t.Protocol):
    """Tensors read from a checkpoint by name."""
    def __call__(self, prefix: _t.Any, tensor_names: _t.Any, shape_and_slices: _t.Any, *, dtypes: _t.Sequence[_t.Any]) -> _t.Any: ...
RestoreV2: _OpRestoreV2

@_t.type_check_only
class _OpReverse(_t.Protocol):
    """The order of elements reversed along axes given by a mask."""
    def __call__(self, tensor: _t.Any, dims: _t.Any) -> _n.Tensor: ...
Reverse: _OpReverse

@_t.type_check_only
class _OpReverseSequence(_t.Protocol):
    """The first elements of each row reversed, up to the length of its sequence."""
    def __call__(self, input: _t.Any, seq_lengths: _t.Any, *, batch_dim: int = ..., seq_dim: int) -> _n.Tensor: ...
ReverseSequence: _OpReverseSequence

@_t.type_check_only
class _OpReverseV2(_t.Protocol):
    """The order of elements reversed along axes."""
    def __call__(self, tensor: _t.Any, axis: _t.Any) -> _n.Tensor: ...
ReverseV2: _OpReverseV2

@_t.type_check_only
class _OpRightShift(_t.Protocol):
    """The bits of an integer shifted to the right."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
RightShift: _OpRightShift

@_t.type_check_only
class _OpRint(_t.Protocol):
    """The nearest integer; of two equally near ones, the even one."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Rint: _OpRint

@_t.type_check_only
class _OpRngReadAndSkip(_t.Protocol):
    """The state of a generator, which then skips a number of steps."""
    def __call__(self, resource: _t.Any, alg: _t.Any, delta: _t.Any) -> _n.Tensor: ...
RngReadAndSkip: _OpRngReadAndSkip

@_t.type_check_only
class _OpRngSkip(_t.Protocol):
    """A generator that skips a number of steps."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, delta: _t.Any) -> tuple[()]: ...
RngSkip: _OpRngSkip

@_t.type_check_only
class _OpRoll(_t.Protocol):
    """Elements rotated along axes."""
    def __call__(self, input: _t.Any, shift: _t.Any, axis: _t.Any) -> _n.Tensor: ...
Roll: _OpRoll

@_t.type_check_only
class _OpRound(_t.Protocol):
    """The nearest integer; of two equally near ones, the even one."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Round: _OpRound

@_t.type_check_only
class _OpRsqrt(_t.Protocol):
    """1 / sqrt(x)."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Rsqrt: _OpRsqrt

@_t.type_check_only
class _OpRsqrtGrad(_t.Protocol):
    """The gradient of `Rsqrt`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
RsqrtGrad: _OpRsqrtGrad

@_t.type_check_only
class _OpSaveV2(_t.Protocol):
    """Tensors written to a checkpoint by name."""
    def __call__(self, *operands: _t.Any, prefix: _t.Any = ..., tensor_names: _t.Any = ..., shape_and_slices: _t.Any = ..., tensors: _t.Any = ...) -> tuple[()]: ...
SaveV2: _OpSaveV2

@_t.type_check_only
class _OpScaleAndTranslate(_t.Protocol):
    """Images scaled and moved."""
    def __call__(self, images: _t.Any, size: _t.Any, scale: _t.Any, translation: _t.Any, *, antialias: bool = ..., kernel_type: str = ...) -> _n.Tensor: ...
ScaleAndTranslate: _OpScaleAndTranslate

@_t.type_check_only
class _OpScaleAndTranslateGrad(_t.Protocol):
    """The gradient of `ScaleAndTranslate`."""
    def __call__(self, grads: _t.Any, original_image: _t.Any, scale: _t.Any, translation: _t.Any, *, antialias: bool = ..., kernel_type: str = ...) -> _n.Tensor: ...
ScaleAndTranslateGrad: _OpScaleAndTranslateGrad

@_t.type_check_only
class _OpScatterAdd(_t.Protocol):
    """Rows added to a reference variable by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterAdd: _OpScatterAdd

@_t.type_check_only
class _OpScatterDiv(_t.Protocol):
    """Rows of a reference variable divided by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterDiv: _OpScatterDiv

@_t.type_check_only
class _OpScatterMax(_t.Protocol):
    """The maximum of rows of a reference variable and others by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterMax: _OpScatterMax

@_t.type_check_only
class _OpScatterMin(_t.Protocol):
    """The minimum of rows of a reference variable and others by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterMin: _OpScatterMin

@_t.type_check_only
class _OpScatterMul(_t.Protocol):
    """Rows of a reference variable multiplied by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterMul: _OpScatterMul

@_t.type_check_only
class _OpScatterNd(_t.Protocol):
    """Slices added into zeros by vectors of indices."""
    def __call__(self, indices: _t.Any, updates: _t.Any, shape: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
ScatterNd: _OpScatterNd

@_t.type_check_only
class _OpScatterNdAdd(_t.Protocol):
    """Slices added to a reference variable by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> _n.Tensor: ...
ScatterNdAdd: _OpScatterNdAdd

@_t.type_check_only
class _OpScatterNdMax(_t.Protocol):
    """The maximum of slices of a reference variable and others by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> _n.Tensor: ...
ScatterNdMax: _OpScatterNdMax

@_t.type_check_only
class _OpScatterNdMin(_t.Protocol):
    """The minimum of slices of a reference variable and others by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> _n.Tensor: ...
ScatterNdMin: _OpScatterNdMin

@_t.type_check_only
class _OpScatterNdNonAliasingAdd(_t.Protocol):
    """Slices added into a tensor by vectors of indices."""
    def __call__(self, input: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
ScatterNdNonAliasingAdd: _OpScatterNdNonAliasingAdd

@_t.type_check_only
class _OpScatterNdSub(_t.Protocol):
    """Slices subtracted from a reference variable by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> _n.Tensor: ...
ScatterNdSub: _OpScatterNdSub

@_t.type_check_only
class _OpScatterNdUpdate(_t.Protocol):
    """Slices of a reference variable replaced by vectors of indices."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ..., use_locking: bool = ...) -> _n.Tensor: ...
ScatterNdUpdate: _OpScatterNdUpdate

@_t.type_check_only
class _OpScatterSub(_t.Protocol):
    """Rows subtracted from a reference variable by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterSub: _OpScatterSub

@_t.type_check_only
class _OpScatterUpdate(_t.Protocol):
    """Rows of a reference variable replaced by index."""
    def __call__(self, ref: _t.Any, indices: _t.Any, updates: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
ScatterUpdate: _OpScatterUpdate

@_t.type_check_only
class _OpSegmentMax(_t.Protocol):
    """The maximum of the rows of each segment; segment ids are sorted."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any) -> _n.Tensor: ...
SegmentMax: _OpSegmentMax

@_t.type_check_only
class _OpSegmentMean(_t.Protocol):
    """The mean of the rows of each segment; segment ids are sorted."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any) -> _n.Tensor: ...
SegmentMean: _OpSegmentMean

@_t.type_check_only
class _OpSegmentMin(_t.Protocol):
    """The minimum of the rows of each segment; segment ids are sorted."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any) -> _n.Tensor: ...
SegmentMin: _OpSegmentMin

@_t.type_check_only
class _OpSegmentProd(_t.Protocol):
    """The product of the rows of each segment; segment ids are sorted."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any) -> _n.Tensor: ...
SegmentProd: _OpSegmentProd

@_t.type_check_only
class _OpSegmentSum(_t.Protocol):
    """The sum of the rows of each segment; segment ids are sorted."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any) -> _n.Tensor: ...
SegmentSum: _OpSegmentSum

@_t.type_check_only
class _OpSelect(_t.Protocol):
    """Elements or rows of two tensors by a condition."""
    def __call__(self, condition: _t.Any, t: _t.Any, e: _t.Any) -> _n.Tensor: ...
Select: _OpSelect

@_t.type_check_only
class _OpSelectV2(_t.Protocol):
    """Elements of two tensors by a condition, all of them broadcast."""
    def __call__(self, condition: _t.Any, t: _t.Any, e: _t.Any) -> _n.Tensor: ...
SelectV2: _OpSelectV2

@_t.type_check_only
class _OpSelfAdjointEig(_t.Protocol):
    """The eigenvalues of Hermitian matrices as a row above the eigenvectors."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
SelfAdjointEig: _OpSelfAdjointEig

@_t.type_check_only
class _OpSelfAdjointEigV2(_t.Protocol):
    """The eigenvalues and eigenvectors of Hermitian matrices."""
    def __call__(self, input: _t.Any, *, compute_v: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
SelfAdjointEigV2: _OpSelfAdjointEigV2

@_t.type_check_only
class _OpSelu(_t.Protocol):
    """The scaled exponential linear unit."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Selu: _OpSelu

@_t.type_check_only
class _OpSeluGrad(_t.Protocol):
    """The gradient of `Selu`, of dy and y."""
    def __call__(self, gradients: _t.Any, outputs: _t.Any) -> _n.Tensor: ...
SeluGrad: _OpSeluGrad

@_t.type_check_only
class _OpSerializeTensor(_t.Protocol):
    """A message that describes a tensor."""
    def __call__(self, tensor: _t.Any) -> _n.Tensor: ...
SerializeTensor: _OpSerializeTensor

@_t.type_check_only
class _OpSetSize(_t.Protocol):
    """The number of distinct values of each set along the last axis of a sparse tensor."""
    def __call__(self, set_indices: _t.Any, set_values: _t.Any, set_shape: _t.Any, *, validate_indices: bool = ...) -> _n.Tensor: ...
SetSize: _OpSetSize

@_t.type_check_only
class _OpShape(_t.Protocol):
    """The shape."""
    def __call__(self, input: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
Shape: _OpShape

@_t.type_check_only
class _OpShapeN(_t.Protocol):
    """The shapes of several tensors."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., out_type: _t.Any = ...) -> _t.Any: ...
ShapeN: _OpShapeN

@_t.type_check_only
class _OpShardedFilename(_t.Protocol):
    """The name of one of the files of a checkpoint."""
    def __call__(self, basename: _t.Any, shard: _t.Any, num_shards: _t.Any) -> _n.Tensor: ...
ShardedFilename: _OpShardedFilename

@_t.type_check_only
class _OpShardedFilespec(_t.Protocol):
    """The pattern that the names of all files of a checkpoint match."""
    def __call__(self, basename: _t.Any, num_shards: _t.Any) -> _n.Tensor: ...
ShardedFilespec: _OpShardedFilespec

@_t.type_check_only
class _OpSigmoid(_t.Protocol):
    """The logistic function, 1 / (1 + exp(-x))."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Sigmoid: _OpSigmoid

@_t.type_check_only
class _OpSigmoidGrad(_t.Protocol):
    """The gradient of `Sigmoid`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
SigmoidGrad: _OpSigmoidGrad

@_t.type_check_only
class _OpSign(_t.Protocol):
    """-1, 0 or 1 by the sign; of a complex number, x / abs(x)."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Sign: _OpSign

@_t.type_check_only
class _OpSin(_t.Protocol):
    """The sine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Sin: _OpSin

@_t.type_check_only
class _OpSinh(_t.Protocol):
    """The hyperbolic sine."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Sinh: _OpSinh

@_t.type_check_only
class _OpSize(_t.Protocol):
    """The number of elements."""
    def __call__(self, input: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
Size: _OpSize

@_t.type_check_only
class _OpSlice(_t.Protocol):
    """A part given by start and size."""
    def __call__(self, input: _t.Any, begin: _t.Any, size: _t.Any) -> _n.Tensor: ...
Slice: _OpSlice

@_t.type_check_only
class _OpSnapshot(_t.Protocol):
    """The operand; a copy in TensorFlow."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Snapshot: _OpSnapshot

@_t.type_check_only
class _OpSoftmax(_t.Protocol):
    """exp(x) over its sum along the last axis."""
    def __call__(self, logits: _t.Any) -> _n.Tensor: ...
Softmax: _OpSoftmax

@_t.type_check_only
class _OpSoftmaxCrossEntropyWithLogits(_t.Protocol):
    """The cross entropy of logits and probabilities, and its gradient."""
    def __call__(self, features: _t.Any, labels: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SoftmaxCrossEntropyWithLogits: _OpSoftmaxCrossEntropyWithLogits

@_t.type_check_only
class _OpSoftplus(_t.Protocol):
    """log(exp(x) + 1)."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Softplus: _OpSoftplus

@_t.type_check_only
class _OpSoftplusGrad(_t.Protocol):
    """The gradient of `Softplus`, of dy and x."""
    def __call__(self, gradients: _t.Any, features: _t.Any) -> _n.Tensor: ...
SoftplusGrad: _OpSoftplusGrad

@_t.type_check_only
class _OpSoftsign(_t.Protocol):
    """x / (abs(x) + 1)."""
    def __call__(self, features: _t.Any) -> _n.Tensor: ...
Softsign: _OpSoftsign

@_t.type_check_only
class _OpSoftsignGrad(_t.Protocol):
    """The gradient of `Softsign`, of dy and x."""
    def __call__(self, gradients: _t.Any, features: _t.Any) -> _n.Tensor: ...
SoftsignGrad: _OpSoftsignGrad

@_t.type_check_only
class _OpSpaceToBatch(_t.Protocol):
    """Blocks of height and width moved into the batch."""
    def __call__(self, input: _t.Any, paddings: _t.Any, *, block_size: int) -> _n.Tensor: ...
SpaceToBatch: _OpSpaceToBatch

@_t.type_check_only
class _OpSpaceToBatchND(_t.Protocol):
    """Blocks of spatial axes moved into the batch."""
    def __call__(self, input: _t.Any, block_shape: _t.Any, paddings: _t.Any) -> _n.Tensor: ...
SpaceToBatchND: _OpSpaceToBatchND

@_t.type_check_only
class _OpSpaceToDepth(_t.Protocol):
    """Blocks of height and width moved into channels."""
    def __call__(self, input: _t.Any, *, block_size: int, data_format: str = ...) -> _n.Tensor: ...
SpaceToDepth: _OpSpaceToDepth

@_t.type_check_only
class _OpSparseAdd(_t.Protocol):
    """The sum of two sparse tensors, without small sums."""
    def __call__(self, a_indices: _t.Any, a_values: _t.Any, a_shape: _t.Any, b_indices: _t.Any, b_values: _t.Any, b_shape: _t.Any, thresh: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseAdd: _OpSparseAdd

@_t.type_check_only
class _OpSparseAddGrad(_t.Protocol):
    """The gradients of the operands of `SparseAdd`."""
    def __call__(self, backprop_val_grad: _t.Any, a_indices: _t.Any, b_indices: _t.Any, sum_indices: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseAddGrad: _OpSparseAddGrad

@_t.type_check_only
class _OpSparseApplyAdadelta(_t.Protocol):
    """A step of Adadelta on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, accum_update: _t.Any, lr: _t.Any, rho: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyAdadelta: _OpSparseApplyAdadelta

@_t.type_check_only
class _OpSparseApplyAdagrad(_t.Protocol):
    """A step of Adagrad on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, indices: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyAdagrad: _OpSparseApplyAdagrad

@_t.type_check_only
class _OpSparseApplyAdagradV2(_t.Protocol):
    """A step of Adagrad with an epsilon on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, update_slots: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyAdagradV2: _OpSparseApplyAdagradV2

@_t.type_check_only
class _OpSparseApplyCenteredRMSProp(_t.Protocol):
    """A step of centered RMSProp on rows of a reference variable."""
    def __call__(self, var: _t.Any, mg: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyCenteredRMSProp: _OpSparseApplyCenteredRMSProp

@_t.type_check_only
class _OpSparseApplyFtrl(_t.Protocol):
    """A step of FTRL on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, indices: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyFtrl: _OpSparseApplyFtrl

@_t.type_check_only
class _OpSparseApplyFtrlV2(_t.Protocol):
    """A step of FTRL with shrinkage on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, linear: _t.Any, grad: _t.Any, indices: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, l2_shrinkage: _t.Any, lr_power: _t.Any, *, multiply_linear_by_lr: bool = ..., use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyFtrlV2: _OpSparseApplyFtrlV2

@_t.type_check_only
class _OpSparseApplyMomentum(_t.Protocol):
    """A step of gradient descent with momentum on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, grad: _t.Any, indices: _t.Any, momentum: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> _n.Tensor: ...
SparseApplyMomentum: _OpSparseApplyMomentum

@_t.type_check_only
class _OpSparseApplyProximalAdagrad(_t.Protocol):
    """A step of proximal Adagrad on rows of a reference variable."""
    def __call__(self, var: _t.Any, accum: _t.Any, lr: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyProximalAdagrad: _OpSparseApplyProximalAdagrad

@_t.type_check_only
class _OpSparseApplyProximalGradientDescent(_t.Protocol):
    """A step of proximal gradient descent on rows of a reference variable."""
    def __call__(self, var: _t.Any, alpha: _t.Any, l1: _t.Any, l2: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyProximalGradientDescent: _OpSparseApplyProximalGradientDescent

@_t.type_check_only
class _OpSparseApplyRMSProp(_t.Protocol):
    """A step of RMSProp on rows of a reference variable."""
    def __call__(self, var: _t.Any, ms: _t.Any, mom: _t.Any, lr: _t.Any, rho: _t.Any, momentum: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ...) -> _n.Tensor: ...
SparseApplyRMSProp: _OpSparseApplyRMSProp

@_t.type_check_only
class _OpSparseBincount(_t.Protocol):
    """The number of occurrences, or the sum of weights, of each small integer in a sparse vector or in each row of a sparse tensor."""
    def __call__(self, indices: _t.Any, values: _t.Any, dense_shape: _t.Any, size: _t.Any, weights: _t.Any, *, binary_output: bool = ...) -> _n.Tensor: ...
SparseBincount: _OpSparseBincount

@_t.type_check_only
class _OpSparseConcat(_t.Protocol):
    """Sparse tensors joined along an axis."""
    def __call__(self, indices: _t.Sequence[_t.Any], values: _t.Sequence[_t.Any], shapes: _t.Sequence[_t.Any], *, concat_dim: int) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseConcat: _OpSparseConcat

@_t.type_check_only
class _OpSparseCountSparseOutput(_t.Protocol):
    """How often each value occurs in its row of a sparse tensor, as a sparse tensor."""
    def __call__(self, indices: _t.Any, values: _t.Any, dense_shape: _t.Any, weights: _t.Any, *, binary_output: bool, maxlength: int = ..., minlength: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseCountSparseOutput: _OpSparseCountSparseOutput

@_t.type_check_only
class _OpSparseCross(_t.Protocol):
    """All combinations of the features of sparse and dense columns, as strings or as hashes."""
    def __call__(self, indices: _t.Sequence[_t.Any], values: _t.Sequence[_t.Any], shapes: _t.Sequence[_t.Any], dense_inputs: _t.Sequence[_t.Any], *, hash_key: int, hashed_output: bool, internal_type: _t.Any, num_buckets: int, out_type: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseCross: _OpSparseCross

@_t.type_check_only
class _OpSparseCrossHashed(_t.Protocol):
    """All combinations of the features of sparse and dense columns, as hashes."""
    def __call__(self, indices: _t.Sequence[_t.Any], values: _t.Sequence[_t.Any], shapes: _t.Sequence[_t.Any], dense_inputs: _t.Sequence[_t.Any], num_buckets: _t.Any, strong_hash: _t.Any, salt: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseCrossHashed: _OpSparseCrossHashed

@_t.type_check_only
class _OpSparseCrossV2(_t.Protocol):
    """All combinations of the features of sparse and dense columns, as strings."""
    def __call__(self, indices: _t.Sequence[_t.Any], values: _t.Sequence[_t.Any], shapes: _t.Sequence[_t.Any], dense_inputs: _t.Sequence[_t.Any], sep: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseCrossV2: _OpSparseCrossV2

@_t.type_check_only
class _OpSparseDenseCwiseAdd(_t.Protocol):
    """The entries of a sparse tensor, with the elements of a dense one added."""
    def __call__(self, sp_indices: _t.Any, sp_values: _t.Any, sp_shape: _t.Any, dense: _t.Any) -> _n.Tensor: ...
SparseDenseCwiseAdd: _OpSparseDenseCwiseAdd

@_t.type_check_only
class _OpSparseDenseCwiseDiv(_t.Protocol):
    """The entries of a sparse tensor, divided by the elements of a dense one."""
    def __call__(self, sp_indices: _t.Any, sp_values: _t.Any, sp_shape: _t.Any, dense: _t.Any) -> _n.Tensor: ...
SparseDenseCwiseDiv: _OpSparseDenseCwiseDiv

@_t.type_check_only
class _OpSparseDenseCwiseMul(_t.Protocol):
    """The entries of a sparse tensor, multiplied by the elements of a dense one."""
    def __call__(self, sp_indices: _t.Any, sp_values: _t.Any, sp_shape: _t.Any, dense: _t.Any) -> _n.Tensor: ...
SparseDenseCwiseMul: _OpSparseDenseCwiseMul

@_t.type_check_only
class _OpSparseFillEmptyRows(_t.Protocol):
    """The entries of a sparse tensor, with a default entry in each empty row."""
    def __call__(self, indices: _t.Any, values: _t.Any, dense_shape: _t.Any, default_value: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseFillEmptyRows: _OpSparseFillEmptyRows

@_t.type_check_only
class _OpSparseFillEmptyRowsGrad(_t.Protocol):
    """The gradients of the values and of the default of `SparseFillEmptyRows`."""
    def __call__(self, reverse_index_map: _t.Any, grad_values: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseFillEmptyRowsGrad: _OpSparseFillEmptyRowsGrad

@_t.type_check_only
class _OpSparseReduceMax(_t.Protocol):
    """The largest entries of a sparse tensor along axes."""
    def __call__(self, input_indices: _t.Any, input_values: _t.Any, input_shape: _t.Any, reduction_axes: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
SparseReduceMax: _OpSparseReduceMax

@_t.type_check_only
class _OpSparseReduceSum(_t.Protocol):
    """The sums of the entries of a sparse tensor along axes."""
    def __call__(self, input_indices: _t.Any, input_values: _t.Any, input_shape: _t.Any, reduction_axes: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
SparseReduceSum: _OpSparseReduceSum

@_t.type_check_only
class _OpSparseReorder(_t.Protocol):
    """The entries of a sparse tensor in row-major order."""
    def __call__(self, input_indices: _t.Any, input_values: _t.Any, input_shape: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseReorder: _OpSparseReorder

@_t.type_check_only
class _OpSparseReshape(_t.Protocol):
    """The coordinates of the entries of a sparse tensor in another shape."""
    def __call__(self, input_indices: _t.Any, input_shape: _t.Any, new_shape: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseReshape: _OpSparseReshape

@_t.type_check_only
class _OpSparseSegmentMean(_t.Protocol):
    """The means of selected rows by sorted segment id."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentMean: _OpSparseSegmentMean

@_t.type_check_only
class _OpSparseSegmentMeanGrad(_t.Protocol):
    """The gradient of `SparseSegmentMean`."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, output_dim0: _t.Any) -> _n.Tensor: ...
SparseSegmentMeanGrad: _OpSparseSegmentMeanGrad

@_t.type_check_only
class _OpSparseSegmentMeanGradV2(_t.Protocol):
    """The gradient of `SparseSegmentMean` in the selected rows."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, dense_output_dim0: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSegmentMeanGradV2: _OpSparseSegmentMeanGradV2

@_t.type_check_only
class _OpSparseSegmentMeanWithNumSegments(_t.Protocol):
    """The means of selected rows by sorted segment id, for a number of segments."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, num_segments: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentMeanWithNumSegments: _OpSparseSegmentMeanWithNumSegments

@_t.type_check_only
class _OpSparseSegmentSqrtN(_t.Protocol):
    """The sums of selected rows by sorted segment id, over the roots of their numbers."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentSqrtN: _OpSparseSegmentSqrtN

@_t.type_check_only
class _OpSparseSegmentSqrtNGrad(_t.Protocol):
    """The gradient of `SparseSegmentSqrtN`."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, output_dim0: _t.Any) -> _n.Tensor: ...
SparseSegmentSqrtNGrad: _OpSparseSegmentSqrtNGrad

@_t.type_check_only
class _OpSparseSegmentSqrtNGradV2(_t.Protocol):
    """The gradient of `SparseSegmentSqrtN` in the selected rows."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, dense_output_dim0: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSegmentSqrtNGradV2: _OpSparseSegmentSqrtNGradV2

@_t.type_check_only
class _OpSparseSegmentSqrtNWithNumSegments(_t.Protocol):
    """The sums of selected rows by sorted segment id, over the roots of their numbers, for a number of segments."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, num_segments: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentSqrtNWithNumSegments: _OpSparseSegmentSqrtNWithNumSegments

@_t.type_check_only
class _OpSparseSegmentSum(_t.Protocol):
    """The sums of selected rows by sorted segment id."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentSum: _OpSparseSegmentSum

@_t.type_check_only
class _OpSparseSegmentSumGrad(_t.Protocol):
    """The gradient of `SparseSegmentSum`."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, output_dim0: _t.Any) -> _n.Tensor: ...
SparseSegmentSumGrad: _OpSparseSegmentSumGrad

@_t.type_check_only
class _OpSparseSegmentSumGradV2(_t.Protocol):
    """The gradient of `SparseSegmentSum` in the selected rows."""
    def __call__(self, grad: _t.Any, indices: _t.Any, segment_ids: _t.Any, dense_output_dim0: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSegmentSumGradV2: _OpSparseSegmentSumGradV2

@_t.type_check_only
class _OpSparseSegmentSumWithNumSegments(_t.Protocol):
    """The sums of selected rows by sorted segment id, for a number of segments."""
    def __call__(self, data: _t.Any, indices: _t.Any, segment_ids: _t.Any, num_segments: _t.Any, *, sparse_gradient: bool = ...) -> _n.Tensor: ...
SparseSegmentSumWithNumSegments: _OpSparseSegmentSumWithNumSegments

@_t.type_check_only
class _OpSparseSlice(_t.Protocol):
    """The entries of a sparse tensor in a box."""
    def __call__(self, indices: _t.Any, values: _t.Any, shape: _t.Any, start: _t.Any, size: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseSlice: _OpSparseSlice

@_t.type_check_only
class _OpSparseSliceGrad(_t.Protocol):
    """The gradient of `SparseSlice`."""
    def __call__(self, backprop_val_grad: _t.Any, input_indices: _t.Any, input_start: _t.Any, output_indices: _t.Any) -> _n.Tensor: ...
SparseSliceGrad: _OpSparseSliceGrad

@_t.type_check_only
class _OpSparseSoftmax(_t.Protocol):
    """The softmax of the entries of a sparse tensor along the last axis."""
    def __call__(self, sp_indices: _t.Any, sp_values: _t.Any, sp_shape: _t.Any) -> _n.Tensor: ...
SparseSoftmax: _OpSparseSoftmax

@_t.type_check_only
class _OpSparseSoftmaxCrossEntropyWithLogits(_t.Protocol):
    """The cross entropy of logits and class numbers, and its gradient."""
    def __call__(self, features: _t.Any, labels: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSoftmaxCrossEntropyWithLogits: _OpSparseSoftmaxCrossEntropyWithLogits

@_t.type_check_only
class _OpSparseSparseMaximum(_t.Protocol):
    """The larger elements of two sparse tensors."""
    def __call__(self, a_indices: _t.Any, a_values: _t.Any, a_shape: _t.Any, b_indices: _t.Any, b_values: _t.Any, b_shape: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSparseMaximum: _OpSparseSparseMaximum

@_t.type_check_only
class _OpSparseSparseMinimum(_t.Protocol):
    """The smaller elements of two sparse tensors."""
    def __call__(self, a_indices: _t.Any, a_values: _t.Any, a_shape: _t.Any, b_indices: _t.Any, b_values: _t.Any, b_shape: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
SparseSparseMinimum: _OpSparseSparseMinimum

@_t.type_check_only
class _OpSparseSplit(_t.Protocol):
    """The parts of a sparse tensor along an axis."""
    def __call__(self, split_dim: _t.Any, indices: _t.Any, values: _t.Any, shape: _t.Any, *, num_split: int) -> _t.Any: ...
SparseSplit: _OpSparseSplit

@_t.type_check_only
class _OpSparseTensorDenseAdd(_t.Protocol):
    """The sum of a sparse and a dense tensor."""
    def __call__(self, a_indices: _t.Any, a_values: _t.Any, a_shape: _t.Any, b: _t.Any) -> _n.Tensor: ...
SparseTensorDenseAdd: _OpSparseTensorDenseAdd

@_t.type_check_only
class _OpSparseTensorDenseMatMul(_t.Protocol):
    """The product of a sparse and a dense matrix."""
    def __call__(self, a_indices: _t.Any, a_values: _t.Any, a_shape: _t.Any, b: _t.Any, *, adjoint_a: bool = ..., adjoint_b: bool = ...) -> _n.Tensor: ...
SparseTensorDenseMatMul: _OpSparseTensorDenseMatMul

@_t.type_check_only
class _OpSparseToDense(_t.Protocol):
    """A dense tensor of a default value, with other values at the given indices."""
    def __call__(self, sparse_indices: _t.Any, output_shape: _t.Any, sparse_values: _t.Any, default_value: _t.Any, *, validate_indices: bool = ...) -> _n.Tensor: ...
SparseToDense: _OpSparseToDense

@_t.type_check_only
class _OpSparseToSparseSetOperation(_t.Protocol):
    """An operation on the sets along the last axis of sparse tensors."""
    def __call__(self, set1_indices: _t.Any, set1_values: _t.Any, set1_shape: _t.Any, set2_indices: _t.Any, set2_values: _t.Any, set2_shape: _t.Any, *, set_operation: str, validate_indices: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
SparseToSparseSetOperation: _OpSparseToSparseSetOperation

@_t.type_check_only
class _OpSpence(_t.Protocol):
    """The dilogarithm of 1 - x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Spence: _OpSpence

@_t.type_check_only
class _OpSplit(_t.Protocol):
    """Equal parts along an axis."""
    def __call__(self, split_dim: _t.Any, value: _t.Any, *, num_split: int) -> _t.Any: ...
Split: _OpSplit

@_t.type_check_only
class _OpSplitV(_t.Protocol):
    """Parts of given sizes along an axis."""
    def __call__(self, value: _t.Any, size_splits: _t.Any, split_dim: _t.Any, *, num_split: int) -> _t.Any: ...
SplitV: _OpSplitV

@_t.type_check_only
class _OpSqrt(_t.Protocol):
    """The square root."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Sqrt: _OpSqrt

@_t.type_check_only
class _OpSqrtGrad(_t.Protocol):
    """The gradient of `Sqrt`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
SqrtGrad: _OpSqrtGrad

@_t.type_check_only
class _OpSquare(_t.Protocol):
    """x * x."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Square: _OpSquare

@_t.type_check_only
class _OpSquaredDifference(_t.Protocol):
    """(x - y) * conj(x - y)."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
SquaredDifference: _OpSquaredDifference

@_t.type_check_only
class _OpSqueeze(_t.Protocol):
    """The operand without axes of length 1."""
    def __call__(self, input: _t.Any, *, squeeze_dims: _t.Sequence[int] = ...) -> _n.Tensor: ...
Squeeze: _OpSqueeze

@_t.type_check_only
class _OpStackCloseV2(_t.Protocol):
    """A stack deleted."""
    def __call__(self, handle: _t.Any) -> tuple[()]: ...
StackCloseV2: _OpStackCloseV2

@_t.type_check_only
class _OpStackPopV2(_t.Protocol):
    """The last value taken from a stack."""
    def __call__(self, handle: _t.Any, *, elem_type: _t.Any) -> _n.Tensor: ...
StackPopV2: _OpStackPopV2

@_t.type_check_only
class _OpStackPushV2(_t.Protocol):
    """A value put on a stack."""
    def __call__(self, handle: _t.Any, elem: _t.Any, *, swap_memory: bool = ...) -> _n.Tensor: ...
StackPushV2: _OpStackPushV2

@_t.type_check_only
class _OpStackV2(_t.Protocol):
    """A stack."""
    def __call__(self, max_size: _t.Any, *, elem_type: _t.Any, stack_name: str = ...) -> _n.Tensor: ...
StackV2: _OpStackV2

@_t.type_check_only
class _OpStatefulPartitionedCall(_t.Protocol):
    """The call of a function with effects."""
    def __call__(self, *operands: _t.Any, args: _t.Any = ..., Tout: _t.Sequence[_t.Any], config: str = ..., config_proto: str = ..., executor_type: str = ..., f: _t.Any) -> _t.Any: ...
StatefulPartitionedCall: _OpStatefulPartitionedCall

@_t.type_check_only
class _OpStatefulRandomBinomial(_t.Protocol):
    """Random numbers of the binomial distribution, from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, counts: _t.Any, probs: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulRandomBinomial: _OpStatefulRandomBinomial

@_t.type_check_only
class _OpStatefulStandardNormal(_t.Protocol):
    """Random numbers of the normal distribution, from a generator that begins with its algorithm."""
    def __call__(self, resource: _t.Any, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulStandardNormal: _OpStatefulStandardNormal

@_t.type_check_only
class _OpStatefulStandardNormalV2(_t.Protocol):
    """Random numbers of the normal distribution, from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulStandardNormalV2: _OpStatefulStandardNormalV2

@_t.type_check_only
class _OpStatefulTruncatedNormal(_t.Protocol):
    """Random numbers of the normal distribution within two standard deviations, from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulTruncatedNormal: _OpStatefulTruncatedNormal

@_t.type_check_only
class _OpStatefulUniform(_t.Protocol):
    """Random numbers of the uniform distribution on [0, 1), from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulUniform: _OpStatefulUniform

@_t.type_check_only
class _OpStatefulUniformFullInt(_t.Protocol):
    """Random integers of the whole range of the type, from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatefulUniformFullInt: _OpStatefulUniformFullInt

@_t.type_check_only
class _OpStatefulUniformInt(_t.Protocol):
    """Random integers of the uniform distribution, from a generator."""
    def __call__(self, resource: _t.Any, algorithm: _t.Any, shape: _t.Any, minval: _t.Any, maxval: _t.Any) -> _n.Tensor: ...
StatefulUniformInt: _OpStatefulUniformInt

@_t.type_check_only
class _OpStatelessCase(_t.Protocol):
    """The call of one of several functions without effects, by number."""
    def __call__(self, *operands: _t.Any, branch_index: _t.Any = ..., input: _t.Any = ..., Tout: _t.Sequence[_t.Any], branches: _t.Sequence[_t.Any], output_shapes: _t.Sequence[_Dims] = ...) -> _t.Any: ...
StatelessCase: _OpStatelessCase

@_t.type_check_only
class _OpStatelessIf(_t.Protocol):
    """The call of one of two functions without effects, by a condition."""
    def __call__(self, *operands: _t.Any, cond: _t.Any = ..., input: _t.Any = ..., Tout: _t.Sequence[_t.Any], else_branch: _t.Any, output_shapes: _t.Sequence[_Dims] = ..., then_branch: _t.Any) -> _t.Any: ...
StatelessIf: _OpStatelessIf

@_t.type_check_only
class _OpStatelessMultinomial(_t.Protocol):
    """Class numbers, drawn by logits, from seeds."""
    def __call__(self, logits: _t.Any, num_samples: _t.Any, seed: _t.Any, *, output_dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessMultinomial: _OpStatelessMultinomial

@_t.type_check_only
class _OpStatelessParameterizedTruncatedNormal(_t.Protocol):
    """Random numbers of normal distributions between ends, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, means: _t.Any, stddevs: _t.Any, minvals: _t.Any, maxvals: _t.Any) -> _n.Tensor: ...
StatelessParameterizedTruncatedNormal: _OpStatelessParameterizedTruncatedNormal

@_t.type_check_only
class _OpStatelessRandomBinomial(_t.Protocol):
    """Random numbers of the binomial distribution, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, counts: _t.Any, probs: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomBinomial: _OpStatelessRandomBinomial

@_t.type_check_only
class _OpStatelessRandomGammaV2(_t.Protocol):
    """Random numbers of gamma distributions, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, alpha: _t.Any) -> _n.Tensor: ...
StatelessRandomGammaV2: _OpStatelessRandomGammaV2

@_t.type_check_only
class _OpStatelessRandomGammaV3(_t.Protocol):
    """Random numbers of gamma distributions, from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, alpha: _t.Any) -> _n.Tensor: ...
StatelessRandomGammaV3: _OpStatelessRandomGammaV3

@_t.type_check_only
class _OpStatelessRandomGetAlg(_t.Protocol):
    """The code of the algorithm for random numbers."""
    def __call__(self) -> _n.Tensor: ...
StatelessRandomGetAlg: _OpStatelessRandomGetAlg

@_t.type_check_only
class _OpStatelessRandomGetKeyCounter(_t.Protocol):
    """Key and counter of the stream of two seeds."""
    def __call__(self, seed: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
StatelessRandomGetKeyCounter: _OpStatelessRandomGetKeyCounter

@_t.type_check_only
class _OpStatelessRandomGetKeyCounterAlg(_t.Protocol):
    """Key, counter and algorithm of the stream of two seeds."""
    def __call__(self, seed: _t.Any) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
StatelessRandomGetKeyCounterAlg: _OpStatelessRandomGetKeyCounterAlg

@_t.type_check_only
class _OpStatelessRandomNormal(_t.Protocol):
    """Random numbers of the normal distribution, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomNormal: _OpStatelessRandomNormal

@_t.type_check_only
class _OpStatelessRandomNormalV2(_t.Protocol):
    """Random numbers of the normal distribution, from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomNormalV2: _OpStatelessRandomNormalV2

@_t.type_check_only
class _OpStatelessRandomPoisson(_t.Protocol):
    """Random numbers of Poisson distributions, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, lam: _t.Any, *, dtype: _t.Any) -> _n.Tensor: ...
StatelessRandomPoisson: _OpStatelessRandomPoisson

@_t.type_check_only
class _OpStatelessRandomUniform(_t.Protocol):
    """Random numbers of the uniform distribution on [0, 1), from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomUniform: _OpStatelessRandomUniform

@_t.type_check_only
class _OpStatelessRandomUniformFullInt(_t.Protocol):
    """Random integers of the whole range of the type, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomUniformFullInt: _OpStatelessRandomUniformFullInt

@_t.type_check_only
class _OpStatelessRandomUniformFullIntV2(_t.Protocol):
    """Random integers of the whole range of the type, from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomUniformFullIntV2: _OpStatelessRandomUniformFullIntV2

@_t.type_check_only
class _OpStatelessRandomUniformInt(_t.Protocol):
    """Random integers of the uniform distribution, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, minval: _t.Any, maxval: _t.Any) -> _n.Tensor: ...
StatelessRandomUniformInt: _OpStatelessRandomUniformInt

@_t.type_check_only
class _OpStatelessRandomUniformIntV2(_t.Protocol):
    """Random integers of the uniform distribution, from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, minval: _t.Any, maxval: _t.Any) -> _n.Tensor: ...
StatelessRandomUniformIntV2: _OpStatelessRandomUniformIntV2

@_t.type_check_only
class _OpStatelessRandomUniformV2(_t.Protocol):
    """Random numbers of the uniform distribution on [0, 1), from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessRandomUniformV2: _OpStatelessRandomUniformV2

@_t.type_check_only
class _OpStatelessShuffle(_t.Protocol):
    """The slices along the first axis in a random order, from key and counter."""
    def __call__(self, value: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any) -> _n.Tensor: ...
StatelessShuffle: _OpStatelessShuffle

@_t.type_check_only
class _OpStatelessTruncatedNormal(_t.Protocol):
    """Random numbers of the normal distribution within two standard deviations, from seeds."""
    def __call__(self, shape: _t.Any, seed: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessTruncatedNormal: _OpStatelessTruncatedNormal

@_t.type_check_only
class _OpStatelessTruncatedNormalV2(_t.Protocol):
    """Random numbers of the normal distribution within two standard deviations, from key and counter."""
    def __call__(self, shape: _t.Any, key: _t.Any, counter: _t.Any, alg: _t.Any, *, dtype: _t.Any = ...) -> _n.Tensor: ...
StatelessTruncatedNormalV2: _OpStatelessTruncatedNormalV2

@_t.type_check_only
class _OpStatelessWhile(_t.Protocol):
    """The repeated call of a function without effects, while another function returns true."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., body: _t.Any, cond: _t.Any, output_shapes: _t.Sequence[_Dims] = ..., parallel_iterations: int = ...) -> _t.Any: ...
StatelessWhile: _OpStatelessWhile

@_t.type_check_only
class _OpStaticRegexFullMatch(_t.Protocol):
    """Whether each whole string matches a constant pattern."""
    def __call__(self, input: _t.Any, *, pattern: str) -> _n.Tensor: ...
StaticRegexFullMatch: _OpStaticRegexFullMatch

@_t.type_check_only
class _OpStaticRegexReplace(_t.Protocol):
    """Strings whose matches of a constant pattern are replaced."""
    def __call__(self, input: _t.Any, *, pattern: str, replace_global: bool = ..., rewrite: str) -> _n.Tensor: ...
StaticRegexReplace: _OpStaticRegexReplace

@_t.type_check_only
class _OpStopGradient(_t.Protocol):
    """The operand, a constant for differentiation."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
StopGradient: _OpStopGradient

@_t.type_check_only
class _OpStridedSlice(_t.Protocol):
    """A part given by start, end and step, as NumPy slices."""
    def __call__(self, input: _t.Any, begin: _t.Any, end: _t.Any, strides: _t.Any, *, begin_mask: int = ..., ellipsis_mask: int = ..., end_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ...) -> _n.Tensor: ...
StridedSlice: _OpStridedSlice

@_t.type_check_only
class _OpStridedSliceAssign(_t.Protocol):
    """A strided part of a reference variable replaced."""
    def __call__(self, ref: _t.Any, begin: _t.Any, end: _t.Any, strides: _t.Any, value: _t.Any, *, begin_mask: int = ..., ellipsis_mask: int = ..., end_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ...) -> _n.Tensor: ...
StridedSliceAssign: _OpStridedSliceAssign

@_t.type_check_only
class _OpStridedSliceGrad(_t.Protocol):
    """The gradient of `StridedSlice`."""
    def __call__(self, shape: _t.Any, begin: _t.Any, end: _t.Any, strides: _t.Any, dy: _t.Any, *, begin_mask: int = ..., ellipsis_mask: int = ..., end_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ...) -> _n.Tensor: ...
StridedSliceGrad: _OpStridedSliceGrad

@_t.type_check_only
class _OpStringJoin(_t.Protocol):
    """Strings of several tensors joined, element by element."""
    def __call__(self, *operands: _t.Any, inputs: _t.Any = ..., separator: str = ...) -> _n.Tensor: ...
StringJoin: _OpStringJoin

@_t.type_check_only
class _OpStringLength(_t.Protocol):
    """The numbers of bytes or characters of strings."""
    def __call__(self, input: _t.Any, *, unit: str = ...) -> _n.Tensor: ...
StringLength: _OpStringLength

@_t.type_check_only
class _OpStringLower(_t.Protocol):
    """Strings in lower case."""
    def __call__(self, input: _t.Any, *, encoding: str = ...) -> _n.Tensor: ...
StringLower: _OpStringLower

@_t.type_check_only
class _OpStringNGrams(_t.Protocol):
    """The n-grams of rows of strings."""
    def __call__(self, data: _t.Any, data_splits: _t.Any, *, left_pad: str, ngram_widths: _t.Sequence[int], pad_width: int, preserve_short_sequences: bool, right_pad: str, separator: str) -> tuple[_n.Tensor, _n.Tensor]: ...
StringNGrams: _OpStringNGrams

@_t.type_check_only
class _OpStringSplit(_t.Protocol):
    """The parts of strings between any of several bytes, as a sparse matrix."""
    def __call__(self, input: _t.Any, delimiter: _t.Any, *, skip_empty: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
StringSplit: _OpStringSplit

@_t.type_check_only
class _OpStringSplitV2(_t.Protocol):
    """The parts of strings between separators, as a sparse matrix."""
    def __call__(self, input: _t.Any, sep: _t.Any, *, maxsplit: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
StringSplitV2: _OpStringSplitV2

@_t.type_check_only
class _OpStringStrip(_t.Protocol):
    """Strings without the space around them."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
StringStrip: _OpStringStrip

@_t.type_check_only
class _OpStringToHashBucket(_t.Protocol):
    """A number below a bound for each string, from a hash that may change between versions."""
    def __call__(self, string_tensor: _t.Any, *, num_buckets: int) -> _n.Tensor: ...
StringToHashBucket: _OpStringToHashBucket

@_t.type_check_only
class _OpStringToHashBucketFast(_t.Protocol):
    """A number below a bound for each string, from its fingerprint."""
    def __call__(self, input: _t.Any, *, num_buckets: int) -> _n.Tensor: ...
StringToHashBucketFast: _OpStringToHashBucketFast

@_t.type_check_only
class _OpStringToHashBucketStrong(_t.Protocol):
    """A number below a bound for each string, from a hash with a secret key."""
    def __call__(self, input: _t.Any, *, key: _t.Sequence[int], num_buckets: int) -> _n.Tensor: ...
StringToHashBucketStrong: _OpStringToHashBucketStrong

@_t.type_check_only
class _OpStringToNumber(_t.Protocol):
    """Strings parsed as numbers."""
    def __call__(self, string_tensor: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
StringToNumber: _OpStringToNumber

@_t.type_check_only
class _OpStringUpper(_t.Protocol):
    """Strings in upper case."""
    def __call__(self, input: _t.Any, *, encoding: str = ...) -> _n.Tensor: ...
StringUpper: _OpStringUpper

@_t.type_check_only
class _OpSub(_t.Protocol):
    """The difference."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Sub: _OpSub

@_t.type_check_only
class _OpSubstr(_t.Protocol):
    """Parts of strings by position and length."""
    def __call__(self, input: _t.Any, pos: _t.Any, len: _t.Any, *, unit: str = ...) -> _n.Tensor: ...
Substr: _OpSubstr

@_t.type_check_only
class _OpSum(_t.Protocol):
    """The sum along axes."""
    def __call__(self, input: _t.Any, reduction_indices: _t.Any, *, keep_dims: bool = ...) -> _n.Tensor: ...
Sum: _OpSum

@_t.type_check_only
class _OpSvd(_t.Protocol):
    """The singular values and vectors of matrices."""
    def __call__(self, input: _t.Any, *, compute_uv: bool = ..., full_matrices: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
Svd: _OpSvd

@_t.type_check_only
class _OpSymbolicGradient(_t.Protocol):
    """The call of the gradient of a function."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., Tout: _t.Sequence[_t.Any], f: _t.Any) -> _t.Any: ...
SymbolicGradient: _OpSymbolicGradient

@_t.type_check_only
class _OpTan(_t.Protocol):
    """The tangent."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Tan: _OpTan

@_t.type_check_only
class _OpTanh(_t.Protocol):
    """The hyperbolic tangent."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
Tanh: _OpTanh

@_t.type_check_only
class _OpTanhGrad(_t.Protocol):
    """The gradient of `Tanh`, of y and dy."""
    def __call__(self, y: _t.Any, dy: _t.Any) -> _n.Tensor: ...
TanhGrad: _OpTanhGrad

@_t.type_check_only
class _OpTensorArrayCloseV3(_t.Protocol):
    """A tensor array deleted."""
    def __call__(self, handle: _t.Any) -> tuple[()]: ...
TensorArrayCloseV3: _OpTensorArrayCloseV3

@_t.type_check_only
class _OpTensorArrayConcatV3(_t.Protocol):
    """The elements of a tensor array joined along the first axis."""
    def __call__(self, handle: _t.Any, flow_in: _t.Any, *, dtype: _t.Any, element_shape_except0: _Dims = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorArrayConcatV3: _OpTensorArrayConcatV3

@_t.type_check_only
class _OpTensorArrayGatherV3(_t.Protocol):
    """Elements of a tensor array by index, stacked."""
    def __call__(self, handle: _t.Any, indices: _t.Any, flow_in: _t.Any, *, dtype: _t.Any, element_shape: _Dims = ...) -> _n.Tensor: ...
TensorArrayGatherV3: _OpTensorArrayGatherV3

@_t.type_check_only
class _OpTensorArrayGradV3(_t.Protocol):
    """The tensor array of the gradients of another."""
    def __call__(self, handle: _t.Any, flow_in: _t.Any, *, source: str) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorArrayGradV3: _OpTensorArrayGradV3

@_t.type_check_only
class _OpTensorArrayReadV3(_t.Protocol):
    """One element of a tensor array."""
    def __call__(self, handle: _t.Any, index: _t.Any, flow_in: _t.Any, *, dtype: _t.Any) -> _n.Tensor: ...
TensorArrayReadV3: _OpTensorArrayReadV3

@_t.type_check_only
class _OpTensorArrayScatterV3(_t.Protocol):
    """Elements of a tensor array set to the slices of a tensor by index."""
    def __call__(self, handle: _t.Any, indices: _t.Any, value: _t.Any, flow_in: _t.Any) -> _n.Tensor: ...
TensorArrayScatterV3: _OpTensorArrayScatterV3

@_t.type_check_only
class _OpTensorArraySizeV3(_t.Protocol):
    """The number of elements of a tensor array."""
    def __call__(self, handle: _t.Any, flow_in: _t.Any) -> _n.Tensor: ...
TensorArraySizeV3: _OpTensorArraySizeV3

@_t.type_check_only
class _OpTensorArraySplitV3(_t.Protocol):
    """Elements of a tensor array set to parts of a tensor."""
    def __call__(self, handle: _t.Any, value: _t.Any, lengths: _t.Any, flow_in: _t.Any) -> _n.Tensor: ...
TensorArraySplitV3: _OpTensorArraySplitV3

@_t.type_check_only
class _OpTensorArrayV3(_t.Protocol):
    """A tensor array: elements that are each written once."""
    def __call__(self, size: _t.Any, *, clear_after_read: bool = ..., dtype: _t.Any, dynamic_size: bool = ..., element_shape: _Dims = ..., identical_element_shapes: bool = ..., tensor_array_name: str = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorArrayV3: _OpTensorArrayV3

@_t.type_check_only
class _OpTensorArrayWriteV3(_t.Protocol):
    """One element of a tensor array set."""
    def __call__(self, handle: _t.Any, index: _t.Any, value: _t.Any, flow_in: _t.Any) -> _n.Tensor: ...
TensorArrayWriteV3: _OpTensorArrayWriteV3

@_t.type_check_only
class _OpTensorListConcat(_t.Protocol):
    """The elements of a list joined along the first axis, with their lengths."""
    def __call__(self, input_handle: _t.Any, *, element_dtype: _t.Any, element_shape: _Dims = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorListConcat: _OpTensorListConcat

@_t.type_check_only
class _OpTensorListConcatLists(_t.Protocol):
    """Two lists joined."""
    def __call__(self, input_a: _t.Any, input_b: _t.Any, *, element_dtype: _t.Any) -> _n.Tensor: ...
TensorListConcatLists: _OpTensorListConcatLists

@_t.type_check_only
class _OpTensorListConcatV2(_t.Protocol):
    """The elements of a list joined along the first axis, with their lengths."""
    def __call__(self, input_handle: _t.Any, element_shape: _t.Any, leading_dims: _t.Any, *, element_dtype: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorListConcatV2: _OpTensorListConcatV2

@_t.type_check_only
class _OpTensorListElementShape(_t.Protocol):
    """The shape that all elements of a list have."""
    def __call__(self, input_handle: _t.Any, *, shape_type: _t.Any) -> _n.Tensor: ...
TensorListElementShape: _OpTensorListElementShape

@_t.type_check_only
class _OpTensorListFromTensor(_t.Protocol):
    """The list of the slices of a tensor along the first axis."""
    def __call__(self, tensor: _t.Any, element_shape: _t.Any) -> _n.Tensor: ...
TensorListFromTensor: _OpTensorListFromTensor

@_t.type_check_only
class _OpTensorListGather(_t.Protocol):
    """Elements of a list by index, stacked."""
    def __call__(self, input_handle: _t.Any, indices: _t.Any, element_shape: _t.Any, *, element_dtype: _t.Any) -> _n.Tensor: ...
TensorListGather: _OpTensorListGather

@_t.type_check_only
class _OpTensorListGetItem(_t.Protocol):
    """One element of a list."""
    def __call__(self, input_handle: _t.Any, index: _t.Any, element_shape: _t.Any, *, element_dtype: _t.Any) -> _n.Tensor: ...
TensorListGetItem: _OpTensorListGetItem

@_t.type_check_only
class _OpTensorListLength(_t.Protocol):
    """The number of elements of a list."""
    def __call__(self, input_handle: _t.Any) -> _n.Tensor: ...
TensorListLength: _OpTensorListLength

@_t.type_check_only
class _OpTensorListPopBack(_t.Protocol):
    """A list without its last element, and that element."""
    def __call__(self, input_handle: _t.Any, element_shape: _t.Any, *, element_dtype: _t.Any) -> tuple[_n.Tensor, _n.Tensor]: ...
TensorListPopBack: _OpTensorListPopBack

@_t.type_check_only
class _OpTensorListPushBack(_t.Protocol):
    """A list with one more element."""
    def __call__(self, input_handle: _t.Any, tensor: _t.Any) -> _n.Tensor: ...
TensorListPushBack: _OpTensorListPushBack

@_t.type_check_only
class _OpTensorListReserve(_t.Protocol):
    """A list of unset elements."""
    def __call__(self, element_shape: _t.Any, num_elements: _t.Any, *, element_dtype: _t.Any) -> _n.Tensor: ...
TensorListReserve: _OpTensorListReserve

@_t.type_check_only
class _OpTensorListResize(_t.Protocol):
    """A list with more or fewer elements."""
    def __call__(self, input_handle: _t.Any, size: _t.Any) -> _n.Tensor: ...
TensorListResize: _OpTensorListResize

@_t.type_check_only
class _OpTensorListScatter(_t.Protocol):
    """A list of the slices of a tensor by index."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, element_shape: _t.Any) -> _n.Tensor: ...
TensorListScatter: _OpTensorListScatter

@_t.type_check_only
class _OpTensorListScatterIntoExistingList(_t.Protocol):
    """A list with elements replaced by the slices of a tensor by index."""
    def __call__(self, input_handle: _t.Any, tensor: _t.Any, indices: _t.Any) -> _n.Tensor: ...
TensorListScatterIntoExistingList: _OpTensorListScatterIntoExistingList

@_t.type_check_only
class _OpTensorListScatterV2(_t.Protocol):
    """A list of the slices of a tensor by index, of a given length."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, element_shape: _t.Any, num_elements: _t.Any) -> _n.Tensor: ...
TensorListScatterV2: _OpTensorListScatterV2

@_t.type_check_only
class _OpTensorListSetItem(_t.Protocol):
    """A list with one element replaced."""
    def __call__(self, input_handle: _t.Any, index: _t.Any, item: _t.Any, *, resize_if_index_out_of_bounds: bool = ...) -> _n.Tensor: ...
TensorListSetItem: _OpTensorListSetItem

@_t.type_check_only
class _OpTensorListSplit(_t.Protocol):
    """The list of the parts of a tensor, of given lengths along the first axis."""
    def __call__(self, tensor: _t.Any, element_shape: _t.Any, lengths: _t.Any) -> _n.Tensor: ...
TensorListSplit: _OpTensorListSplit

@_t.type_check_only
class _OpTensorListStack(_t.Protocol):
    """The elements of a list stacked along a new first axis."""
    def __call__(self, input_handle: _t.Any, element_shape: _t.Any, *, element_dtype: _t.Any, num_elements: int = ...) -> _n.Tensor: ...
TensorListStack: _OpTensorListStack

@_t.type_check_only
class _OpTensorScatterAdd(_t.Protocol):
    """A tensor with slices added by vectors of indices."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
TensorScatterAdd: _OpTensorScatterAdd

@_t.type_check_only
class _OpTensorScatterMax(_t.Protocol):
    """A tensor with the maximum of its slices and others by vectors of indices."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
TensorScatterMax: _OpTensorScatterMax

@_t.type_check_only
class _OpTensorScatterMin(_t.Protocol):
    """A tensor with the minimum of its slices and others by vectors of indices."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
TensorScatterMin: _OpTensorScatterMin

@_t.type_check_only
class _OpTensorScatterSub(_t.Protocol):
    """A tensor with slices subtracted by vectors of indices."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
TensorScatterSub: _OpTensorScatterSub

@_t.type_check_only
class _OpTensorScatterUpdate(_t.Protocol):
    """A tensor with slices replaced by vectors of indices."""
    def __call__(self, tensor: _t.Any, indices: _t.Any, updates: _t.Any, *, bad_indices_policy: str = ...) -> _n.Tensor: ...
TensorScatterUpdate: _OpTensorScatterUpdate

@_t.type_check_only
class _OpTensorStridedSliceUpdate(_t.Protocol):
    """A tensor with a strided part replaced."""
    def __call__(self, input: _t.Any, begin: _t.Any, end: _t.Any, strides: _t.Any, value: _t.Any, *, begin_mask: int = ..., ellipsis_mask: int = ..., end_mask: int = ..., new_axis_mask: int = ..., shrink_axis_mask: int = ...) -> _n.Tensor: ...
TensorStridedSliceUpdate: _OpTensorStridedSliceUpdate

@_t.type_check_only
class _OpThreadUnsafeUnigramCandidateSampler(_t.Protocol):
    """Candidates, drawn by the numbers of true classes so far."""
    def __call__(self, true_classes: _t.Any, *, num_sampled: int, num_true: int, range_max: int, seed: int = ..., seed2: int = ..., unique: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
ThreadUnsafeUnigramCandidateSampler: _OpThreadUnsafeUnigramCandidateSampler

@_t.type_check_only
class _OpTile(_t.Protocol):
    """The tensor repeated along its axes."""
    def __call__(self, input: _t.Any, multiples: _t.Any) -> _n.Tensor: ...
Tile: _OpTile

@_t.type_check_only
class _OpTopK(_t.Protocol):
    """The k largest elements of each row, with their positions."""
    def __call__(self, input: _t.Any, *, k: int, sorted: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
TopK: _OpTopK

@_t.type_check_only
class _OpTopKV2(_t.Protocol):
    """The k largest elements of each row, with their positions."""
    def __call__(self, input: _t.Any, k: _t.Any, *, index_type: _t.Any = ..., sorted: bool = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
TopKV2: _OpTopKV2

@_t.type_check_only
class _OpTranspose(_t.Protocol):
    """The axes permuted."""
    def __call__(self, x: _t.Any, perm: _t.Any) -> _n.Tensor: ...
Transpose: _OpTranspose

@_t.type_check_only
class _OpTridiagonalMatMul(_t.Protocol):
    """The products of tridiagonal matrices with matrices."""
    def __call__(self, superdiag: _t.Any, maindiag: _t.Any, subdiag: _t.Any, rhs: _t.Any) -> _n.Tensor: ...
TridiagonalMatMul: _OpTridiagonalMatMul

@_t.type_check_only
class _OpTridiagonalSolve(_t.Protocol):
    """The solutions of systems of linear equations with tridiagonal matrices."""
    def __call__(self, diagonals: _t.Any, rhs: _t.Any, *, partial_pivoting: bool = ..., perturb_singular: bool = ...) -> _n.Tensor: ...
TridiagonalSolve: _OpTridiagonalSolve

@_t.type_check_only
class _OpTruncateDiv(_t.Protocol):
    """The quotient of integers rounded towards zero."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
TruncateDiv: _OpTruncateDiv

@_t.type_check_only
class _OpTruncateMod(_t.Protocol):
    """The remainder with the dividend's sign."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
TruncateMod: _OpTruncateMod

@_t.type_check_only
class _OpTruncatedNormal(_t.Protocol):
    """Random numbers of the normal distribution within two standard deviations."""
    def __call__(self, shape: _t.Any, *, dtype: _t.Any, seed: int = ..., seed2: int = ...) -> _n.Tensor: ...
TruncatedNormal: _OpTruncatedNormal

@_t.type_check_only
class _OpUnicodeDecode(_t.Protocol):
    """The code points of strings in rows."""
    def __call__(self, input: _t.Any, *, Tsplits: _t.Any = ..., errors: str = ..., input_encoding: str, replace_control_characters: bool = ..., replacement_char: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
UnicodeDecode: _OpUnicodeDecode

@_t.type_check_only
class _OpUnicodeDecodeWithOffsets(_t.Protocol):
    """The code points of strings in rows, and the position of each in its string."""
    def __call__(self, input: _t.Any, *, Tsplits: _t.Any = ..., errors: str = ..., input_encoding: str, replace_control_characters: bool = ..., replacement_char: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
UnicodeDecodeWithOffsets: _OpUnicodeDecodeWithOffsets

@_t.type_check_only
class _OpUnicodeEncode(_t.Protocol):
    """Strings of the code points in rows."""
    def __call__(self, input_values: _t.Any, input_splits: _t.Any, *, errors: str = ..., output_encoding: str, replacement_char: int = ...) -> _n.Tensor: ...
UnicodeEncode: _OpUnicodeEncode

@_t.type_check_only
class _OpUnicodeScript(_t.Protocol):
    """The number of the script of each code point, as ICU counts them."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
UnicodeScript: _OpUnicodeScript

@_t.type_check_only
class _OpUnicodeTranscode(_t.Protocol):
    """Strings in another encoding."""
    def __call__(self, input: _t.Any, *, errors: str = ..., input_encoding: str, output_encoding: str, replace_control_characters: bool = ..., replacement_char: int = ...) -> _n.Tensor: ...
UnicodeTranscode: _OpUnicodeTranscode

@_t.type_check_only
class _OpUniformCandidateSampler(_t.Protocol):
    """Candidates, all classes with the same probability."""
    def __call__(self, true_classes: _t.Any, *, num_sampled: int, num_true: int, range_max: int, seed: int = ..., seed2: int = ..., unique: bool) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
UniformCandidateSampler: _OpUniformCandidateSampler

@_t.type_check_only
class _OpUniformDequantize(_t.Protocol):
    """The numbers for which integers with scales and zero points stand."""
    def __call__(self, input: _t.Any, scales: _t.Any, zero_points: _t.Any, *, Tout: _t.Any, quantization_axis: int = ..., quantization_max_val: int, quantization_min_val: int) -> _n.Tensor: ...
UniformDequantize: _OpUniformDequantize

@_t.type_check_only
class _OpUniformQuantize(_t.Protocol):
    """The integers that stand for numbers, with scales and zero points."""
    def __call__(self, input: _t.Any, scales: _t.Any, zero_points: _t.Any, *, Tout: _t.Any, quantization_axis: int = ..., quantization_max_val: int, quantization_min_val: int) -> _n.Tensor: ...
UniformQuantize: _OpUniformQuantize

@_t.type_check_only
class _OpUniformQuantizedAdd(_t.Protocol):
    """The sums of integers with scales and zero points."""
    def __call__(self, lhs: _t.Any, rhs: _t.Any, lhs_scales: _t.Any, lhs_zero_points: _t.Any, rhs_scales: _t.Any, rhs_zero_points: _t.Any, output_scales: _t.Any, output_zero_points: _t.Any, *, lhs_quantization_axis: int = ..., lhs_quantization_max_val: int, lhs_quantization_min_val: int, output_quantization_axis: int = ..., output_quantization_max_val: int, output_quantization_min_val: int, rhs_quantization_axis: int = ..., rhs_quantization_max_val: int, rhs_quantization_min_val: int) -> _n.Tensor: ...
UniformQuantizedAdd: _OpUniformQuantizedAdd

@_t.type_check_only
class _OpUniformQuantizedClipByValue(_t.Protocol):
    """Integers with scales and zero points, clamped."""
    def __call__(self, operand: _t.Any, min: _t.Any, max: _t.Any, scales: _t.Any, zero_points: _t.Any, *, quantization_axis: int = ..., quantization_max_val: int, quantization_min_val: int) -> _n.Tensor: ...
UniformQuantizedClipByValue: _OpUniformQuantizedClipByValue

@_t.type_check_only
class _OpUniformQuantizedDot(_t.Protocol):
    """The product of matrices of integers with scales and zero points."""
    def __call__(self, lhs: _t.Any, rhs: _t.Any, lhs_scales: _t.Any, lhs_zero_points: _t.Any, rhs_scales: _t.Any, rhs_zero_points: _t.Any, output_scales: _t.Any, output_zero_points: _t.Any, *, Tout: _t.Any, lhs_quantization_axis: int = ..., lhs_quantization_max_val: int, lhs_quantization_min_val: int, output_quantization_axis: int = ..., output_quantization_max_val: int, output_quantization_min_val: int, rhs_quantization_axis: int = ..., rhs_quantization_max_val: int, rhs_quantization_min_val: int) -> _n.Tensor: ...
UniformQuantizedDot: _OpUniformQuantizedDot

@_t.type_check_only
class _OpUniformQuantizedDotHybrid(_t.Protocol):
    """The product of a matrix of numbers with a matrix of integers with scales and zero points."""
    def __call__(self, lhs: _t.Any, rhs: _t.Any, rhs_scales: _t.Any, rhs_zero_points: _t.Any, *, Tout: _t.Any, rhs_quantization_axis: int = ..., rhs_quantization_max_val: int, rhs_quantization_min_val: int) -> _n.Tensor: ...
UniformQuantizedDotHybrid: _OpUniformQuantizedDotHybrid

@_t.type_check_only
class _OpUniformRequantize(_t.Protocol):
    """The integers for the same numbers with other scales and zero points."""
    def __call__(self, input: _t.Any, input_scales: _t.Any, input_zero_points: _t.Any, output_scales: _t.Any, output_zero_points: _t.Any, *, Tout: _t.Any, input_quantization_axis: int = ..., input_quantization_max_val: int, input_quantization_min_val: int, output_quantization_axis: int = ..., output_quantization_max_val: int, output_quantization_min_val: int) -> _n.Tensor: ...
UniformRequantize: _OpUniformRequantize

@_t.type_check_only
class _OpUnique(_t.Protocol):
    """The distinct elements of a vector, and for each element its position among them."""
    def __call__(self, x: _t.Any, *, out_idx: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
Unique: _OpUnique

@_t.type_check_only
class _OpUniqueV2(_t.Protocol):
    """The distinct slices along an axis, and for each slice its position among them."""
    def __call__(self, x: _t.Any, axis: _t.Any, *, out_idx: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
UniqueV2: _OpUniqueV2

@_t.type_check_only
class _OpUniqueWithCounts(_t.Protocol):
    """The distinct elements of a vector, positions as in `Unique`, and the number of occurrences of each."""
    def __call__(self, x: _t.Any, *, out_idx: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
UniqueWithCounts: _OpUniqueWithCounts

@_t.type_check_only
class _OpUniqueWithCountsV2(_t.Protocol):
    """The distinct slices along an axis, positions as in `UniqueV2`, and the number of occurrences of each."""
    def __call__(self, x: _t.Any, axis: _t.Any, *, out_idx: _t.Any = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
UniqueWithCountsV2: _OpUniqueWithCountsV2

@_t.type_check_only
class _OpUnpack(_t.Protocol):
    """The slices along an axis; the inverse of `Pack`."""
    def __call__(self, value: _t.Any, *, axis: int = ..., num: int) -> _t.Any: ...
Unpack: _OpUnpack

@_t.type_check_only
class _OpUnravelIndex(_t.Protocol):
    """The indices of the elements at positions of a tensor with these sizes."""
    def __call__(self, indices: _t.Any, dims: _t.Any) -> _n.Tensor: ...
UnravelIndex: _OpUnravelIndex

@_t.type_check_only
class _OpUnsortedSegmentJoin(_t.Protocol):
    """Strings joined by segment id."""
    def __call__(self, inputs: _t.Any, segment_ids: _t.Any, num_segments: _t.Any, *, separator: str = ...) -> _n.Tensor: ...
UnsortedSegmentJoin: _OpUnsortedSegmentJoin

@_t.type_check_only
class _OpUnsortedSegmentMax(_t.Protocol):
    """The maximum of the rows of each segment; segment ids may have any order."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any, num_segments: _t.Any) -> _n.Tensor: ...
UnsortedSegmentMax: _OpUnsortedSegmentMax

@_t.type_check_only
class _OpUnsortedSegmentMin(_t.Protocol):
    """The minimum of the rows of each segment; segment ids may have any order."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any, num_segments: _t.Any) -> _n.Tensor: ...
UnsortedSegmentMin: _OpUnsortedSegmentMin

@_t.type_check_only
class _OpUnsortedSegmentProd(_t.Protocol):
    """The product of the rows of each segment; segment ids may have any order."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any, num_segments: _t.Any) -> _n.Tensor: ...
UnsortedSegmentProd: _OpUnsortedSegmentProd

@_t.type_check_only
class _OpUnsortedSegmentSum(_t.Protocol):
    """The sum of the rows of each segment; segment ids may have any order."""
    def __call__(self, data: _t.Any, segment_ids: _t.Any, num_segments: _t.Any) -> _n.Tensor: ...
UnsortedSegmentSum: _OpUnsortedSegmentSum

@_t.type_check_only
class _OpUpperBound(_t.Protocol):
    """For each value, the first position in a sorted row whose element is greater."""
    def __call__(self, sorted_inputs: _t.Any, values: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
UpperBound: _OpUpperBound

@_t.type_check_only
class _OpVarHandleOp(_t.Protocol):
    """The handle of a variable, by container and name."""
    def __call__(self, *, allowed_devices: _t.Sequence[str] = ..., container: str = ..., debug_name: str = ..., dtype: _t.Any, shape: _Dims, shared_name: str = ...) -> _n.Tensor: ...
VarHandleOp: _OpVarHandleOp

@_t.type_check_only
class _OpVarIsInitializedOp(_t.Protocol):
    """Whether a variable has a value."""
    def __call__(self, resource: _t.Any) -> _n.Tensor: ...
VarIsInitializedOp: _OpVarIsInitializedOp

@_t.type_check_only
class _OpVariable(_t.Protocol):
    """A reference to a variable."""
    def __call__(self, *, container: str = ..., dtype: _t.Any, shape: _Dims, shared_name: str = ...) -> _n.Tensor: ...
Variable: _OpVariable

@_t.type_check_only
class _OpVariableShape(_t.Protocol):
    """The shape of a variable's value."""
    def __call__(self, input: _t.Any, *, out_type: _t.Any = ...) -> _n.Tensor: ...
VariableShape: _OpVariableShape

@_t.type_check_only
class _OpVariableV2(_t.Protocol):
    """A reference to a variable."""
    def __call__(self, *, container: str = ..., dtype: _t.Any, shape: _Dims, shared_name: str = ...) -> _n.Tensor: ...
VariableV2: _OpVariableV2

@_t.type_check_only
class _OpWhere(_t.Protocol):
    """The indices of the elements that are not zero."""
    def __call__(self, input: _t.Any) -> _n.Tensor: ...
Where: _OpWhere

@_t.type_check_only
class _OpWhile(_t.Protocol):
    """The repeated call of a function, while another function returns true."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., body: _t.Any, cond: _t.Any, output_shapes: _t.Sequence[_Dims] = ..., parallel_iterations: int = ...) -> _t.Any: ...
While: _OpWhile

@_t.type_check_only
class _OpXdivy(_t.Protocol):
    """x / y, 0 where x is 0."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Xdivy: _OpXdivy

@_t.type_check_only
class _OpXlog1py(_t.Protocol):
    """x * log(1 + y), 0 where x is 0."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Xlog1py: _OpXlog1py

@_t.type_check_only
class _OpXlogy(_t.Protocol):
    """x * log(y), 0 where x is 0."""
    def __call__(self, x: _t.Any, y: _t.Any) -> _n.Tensor: ...
Xlogy: _OpXlogy

@_t.type_check_only
class _OpZerosLike(_t.Protocol):
    """Zeros in the shape of the operand; for a list or an optional, one that holds zeros."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
ZerosLike: _OpZerosLike

@_t.type_check_only
class _OpZeta(_t.Protocol):
    """The Hurwitz zeta function."""
    def __call__(self, x: _t.Any, q: _t.Any) -> _n.Tensor: ...
Zeta: _OpZeta

@_t.type_check_only
class _Op_BatchedNonMaxSuppression(_t.Protocol):
    """For each image and class, the boxes that do not overlap a selected box of a higher score."""
    def __call__(self, boxes: _t.Any, scores: _t.Any, max_output_boxes_per_class: _t.Any, iou_threshold: _t.Any, score_threshold: _t.Any, *, center_point_box: int = ...) -> _n.Tensor: ...
_BatchedNonMaxSuppression: _Op_BatchedNonMaxSuppression

@_t.type_check_only
class _Op_Col2Im(_t.Protocol):
    """Images that are the sums of their windows."""
    def __call__(self, x: _t.Any, image_shape: _t.Any, block_shape: _t.Any, *, dilations: _t.Sequence[int] = ..., pads: _t.Sequence[int] = ..., strides: _t.Sequence[int] = ...) -> _n.Tensor: ...
_Col2Im: _Op_Col2Im

@_t.type_check_only
class _Op_CoupledProbabilities(_t.Protocol):
    """For each row of the probabilities of pairs of classes, the probabilities of the classes."""
    def __call__(self, pairs: _t.Any, *, n_classes: int) -> _n.Tensor: ...
_CoupledProbabilities: _Op_CoupledProbabilities

@_t.type_check_only
class _Op_DeformConv(_t.Protocol):
    """The convolution of images with displaced taps."""
    def __call__(self, x: _t.Any, w: _t.Any, offset: _t.Any, bias: _t.Any, mask: _t.Any, *, dilations: _t.Sequence[int] = ..., group: int = ..., offset_group: int = ..., pads: _t.Sequence[int] = ..., strides: _t.Sequence[int] = ...) -> _n.Tensor: ...
_DeformConv: _Op_DeformConv

@_t.type_check_only
class _Op_DequantizeLinear(_t.Protocol):
    """The numbers that integers stand for, by a scale and a zero point or one for each index of an axis."""
    def __call__(self, x: _t.Any, scale: _t.Any, zero_point: _t.Any, *, axis: int = ...) -> _n.Tensor: ...
_DequantizeLinear: _Op_DequantizeLinear

@_t.type_check_only
class _Op_EnsureSameSizes(_t.Protocol):
    """The operand, or an error if sizes of the same name differ: those along `axes`, and those of the other operand along `like_axes`."""
    def __call__(self, x: _t.Any, like: _t.Any, *, axes: _t.Sequence[int], like_axes: _t.Sequence[int], names: _t.Sequence[str]) -> _n.Tensor: ...
_EnsureSameSizes: _Op_EnsureSameSizes

@_t.type_check_only
class _Op_FusedAttention(_t.Protocol):
    """The attention of queries to keys and values, head by head."""
    def __call__(self, *operands: _t.Any, q: _t.Any = ..., k: _t.Any = ..., v: _t.Any = ..., mask: _t.Any = ..., heads_inside: bool = ..., scale: float = ...) -> _n.Tensor: ...
_FusedAttention: _Op_FusedAttention

@_t.type_check_only
class _Op_FusedBatchNormEx(_t.Protocol):
    """`FusedBatchNormV3` with an addend and an activation."""
    def __call__(self, *operands: _t.Any, x: _t.Any = ..., scale: _t.Any = ..., offset: _t.Any = ..., mean: _t.Any = ..., variance: _t.Any = ..., side_input: _t.Any = ..., activation_mode: str = ..., data_format: str = ..., epsilon: float = ..., exponential_avg_factor: float = ..., is_training: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
_FusedBatchNormEx: _Op_FusedBatchNormEx

@_t.type_check_only
class _Op_FusedConv2D(_t.Protocol):
    """`Conv2D` and the operators that follow it."""
    def __call__(self, input: _t.Any, filter: _t.Any, args: _t.Sequence[_t.Any], host_args: _t.Sequence[_t.Any], *, data_format: str = ..., dilations: _t.Sequence[int] = ..., epsilon: float = ..., explicit_paddings: _t.Sequence[int] = ..., filter_format: str = ..., fused_ops: _t.Sequence[str] = ..., leakyrelu_alpha: float = ..., num_args: int, padding: str, strides: _t.Sequence[int], use_cudnn_on_gpu: bool = ...) -> _n.Tensor: ...
_FusedConv2D: _Op_FusedConv2D

@_t.type_check_only
class _Op_FusedDepthwiseConv2dNative(_t.Protocol):
    """`DepthwiseConv2dNative` and the operators that follow it."""
    def __call__(self, *operands: _t.Any, input: _t.Any = ..., filter: _t.Any = ..., args: _t.Any = ..., data_format: str = ..., dilations: _t.Sequence[int] = ..., epsilon: float = ..., fused_ops: _t.Sequence[str] = ..., leakyrelu_alpha: float = ..., padding: str, strides: _t.Sequence[int]) -> _n.Tensor: ...
_FusedDepthwiseConv2dNative: _Op_FusedDepthwiseConv2dNative

@_t.type_check_only
class _Op_FusedElementwise(_t.Protocol):
    """A program of elementwise operators."""
    def __call__(self, *operands: _t.Any, args: _t.Any = ..., TResults: _t.Sequence[_t.Any], numbers: _t.Sequence[float] = ..., ops: _t.Sequence[str], results: _t.Sequence[int], values: _t.Sequence[int]) -> _t.Any: ...
_FusedElementwise: _Op_FusedElementwise

@_t.type_check_only
class _Op_FusedMatMul(_t.Protocol):
    """`MatMul` and the operators that follow it."""
    def __call__(self, *operands: _t.Any, a: _t.Any = ..., b: _t.Any = ..., args: _t.Any = ..., epsilon: float = ..., fused_ops: _t.Sequence[str] = ..., leakyrelu_alpha: float = ..., transpose_a: bool = ..., transpose_b: bool = ...) -> _n.Tensor: ...
_FusedMatMul: _Op_FusedMatMul

@_t.type_check_only
class _Op_GatherElements(_t.Protocol):
    """For each index, the element at this position along an axis."""
    def __call__(self, x: _t.Any, indices: _t.Any, *, axis: int = ...) -> _n.Tensor: ...
_GatherElements: _Op_GatherElements

@_t.type_check_only
class _Op_Gelu(_t.Protocol):
    """The Gaussian error linear unit."""
    def __call__(self, x: _t.Any, *, approximate: bool = ...) -> _n.Tensor: ...
_Gelu: _Op_Gelu

@_t.type_check_only
class _Op_GeluSlope(_t.Protocol):
    """The derivative of the exact `_Gelu`."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
_GeluSlope: _Op_GeluSlope

@_t.type_check_only
class _Op_GeluTanhSlope(_t.Protocol):
    """The derivative of the approximate `_Gelu`."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
_GeluTanhSlope: _Op_GeluTanhSlope

@_t.type_check_only
class _Op_GridSample(_t.Protocol):
    """Images sampled at the positions of a grid."""
    def __call__(self, x: _t.Any, grid: _t.Any, *, align_corners: bool = ..., mode: str = ..., padding_mode: str = ...) -> _n.Tensor: ...
_GridSample: _Op_GridSample

@_t.type_check_only
class _Op_GridSampleGradGrid(_t.Protocol):
    """The gradient of `_GridSample` for the positions."""
    def __call__(self, dy: _t.Any, x: _t.Any, grid: _t.Any, *, align_corners: bool = ..., mode: str = ..., padding_mode: str = ...) -> _n.Tensor: ...
_GridSampleGradGrid: _Op_GridSampleGradGrid

@_t.type_check_only
class _Op_GridSampleGradImage(_t.Protocol):
    """The gradient of `_GridSample` for the images."""
    def __call__(self, dy: _t.Any, x: _t.Any, grid: _t.Any, *, align_corners: bool = ..., mode: str = ..., padding_mode: str = ...) -> _n.Tensor: ...
_GridSampleGradImage: _Op_GridSampleGradImage

@_t.type_check_only
class _Op_Gru(_t.Protocol):
    """Gated recurrent units over sequences, in one or both directions."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., linear_before_reset: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_Gru: _Op_Gru

@_t.type_check_only
class _Op_GruGrad(_t.Protocol):
    """The gradient of `_Gru`, given its states."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, y: _t.Any, y_grad: _t.Any, y_h_grad: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., linear_before_reset: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
_GruGrad: _Op_GruGrad

@_t.type_check_only
class _Op_Im2Col(_t.Protocol):
    """The windows of images of which `_Col2Im` makes sums."""
    def __call__(self, x: _t.Any, block_shape: _t.Any, *, dilations: _t.Sequence[int] = ..., pads: _t.Sequence[int] = ..., strides: _t.Sequence[int] = ...) -> _n.Tensor: ...
_Im2Col: _Op_Im2Col

@_t.type_check_only
class _Op_InitializeTableFromText(_t.Protocol):
    """A table initialized with the lines of a text."""
    def __call__(self, table_handle: _t.Any, text: _t.Any, *, delimiter: str = ..., key_index: int, offset: int = ..., value_index: int, vocab_size: int = ...) -> tuple[()]: ...
_InitializeTableFromText: _Op_InitializeTableFromText

@_t.type_check_only
class _Op_LayerNorm(_t.Protocol):
    """The normalization of each row by its own moments."""
    def __call__(self, x: _t.Any, scale: _t.Any, offset: _t.Any, *, epsilon: float) -> _n.Tensor: ...
_LayerNorm: _Op_LayerNorm

@_t.type_check_only
class _Op_LayerNormGrad(_t.Protocol):
    """The gradient of `_LayerNorm`, of dy, x and the scale: by x, by the scale and by the offset."""
    def __call__(self, dy: _t.Any, x: _t.Any, scale: _t.Any, *, epsilon: float) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
_LayerNormGrad: _Op_LayerNormGrad

@_t.type_check_only
class _Op_LookUpBytes(_t.Protocol):
    """The elements of a table of 256 that bytes select by their bits."""
    def __call__(self, x: _t.Any, table: _t.Any) -> _n.Tensor: ...
_LookUpBytes: _Op_LookUpBytes

@_t.type_check_only
class _Op_Lstm(_t.Protocol):
    """Long short-term memories over sequences, in one or both directions."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, initial_c: _t.Any, p: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., input_forget: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
_Lstm: _Op_Lstm

@_t.type_check_only
class _Op_LstmGrad(_t.Protocol):
    """The gradient of `_Lstm`, given its states."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, initial_c: _t.Any, p: _t.Any, y: _t.Any, y_grad: _t.Any, y_h_grad: _t.Any, y_c_grad: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., input_forget: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
_LstmGrad: _Op_LstmGrad

@_t.type_check_only
class _Op_MaxPoolWithIndices(_t.Protocol):
    """The maximum of each window over images, and its position among all elements."""
    def __call__(self, x: _t.Any, *, ceil_mode: bool = ..., dilations: _t.Sequence[int] = ..., kernel_shape: _t.Sequence[int], pads: _t.Sequence[int] = ..., storage_order: int = ..., strides: _t.Sequence[int] = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_MaxPoolWithIndices: _Op_MaxPoolWithIndices

@_t.type_check_only
class _Op_MaxRoiPool(_t.Protocol):
    """Regions of images reduced to a fixed size by the maximum of each bin."""
    def __call__(self, x: _t.Any, rois: _t.Any, *, pooled_shape: _t.Sequence[int], spatial_scale: float = ...) -> _n.Tensor: ...
_MaxRoiPool: _Op_MaxRoiPool

@_t.type_check_only
class _Op_MaxRoiPoolGrad(_t.Protocol):
    """The gradient of `_MaxRoiPool`."""
    def __call__(self, dy: _t.Any, x: _t.Any, rois: _t.Any, *, pooled_shape: _t.Sequence[int], spatial_scale: float = ...) -> _n.Tensor: ...
_MaxRoiPoolGrad: _Op_MaxRoiPoolGrad

@_t.type_check_only
class _Op_NumpyString(_t.Protocol):
    """A tensor as a string, as NumPy's `str` writes it; not an operator of TensorFlow."""
    def __call__(self, x: _t.Any) -> _n.Tensor: ...
_NumpyString: _Op_NumpyString

@_t.type_check_only
class _Op_PackMatrix(_t.Protocol):
    """The right matrix of products in the form in which those with packed weights read it."""
    def __call__(self, x: _t.Any, *, transpose: bool = ...) -> _n.Tensor: ...
_PackMatrix: _Op_PackMatrix

@_t.type_check_only
class _Op_PackedBottleneck(_t.Protocol):
    """A depthwise convolution with packed filters, the 1x1 convolutions before and behind it, and the operators that follow each."""
    def __call__(self, input: _t.Any, weights: _t.Sequence[_t.Any], args: _t.Sequence[_t.Any], *, data_format: str = ..., dilations: _t.Sequence[int] = ..., expand_ops: _t.Sequence[str] = ..., expand_shape: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., filter_shape: _t.Sequence[int], fused_ops: _t.Sequence[str] = ..., leakyrelu_alpha: float = ..., padding: str, project_ops: _t.Sequence[str] = ..., project_shape: _t.Sequence[int] = ..., strides: _t.Sequence[int]) -> _n.Tensor: ...
_PackedBottleneck: _Op_PackedBottleneck

@_t.type_check_only
class _Op_PackedConv2D(_t.Protocol):
    """`Conv2D` with packed filters, and the operators that follow it."""
    def __call__(self, input: _t.Any, weights: _t.Any, args: _t.Sequence[_t.Any], residuals: _t.Sequence[_t.Any], *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., filter_shape: _t.Sequence[int], fused_ops: _t.Sequence[str] = ..., input_range: _t.Sequence[float] = ..., input_zero_point: int = ..., leakyrelu_alpha: float = ..., output_scale: float = ..., output_zero_point: int = ..., padding: str, residual_scale: float = ..., residual_zero_point: int = ..., strides: _t.Sequence[int], sum_scale: float = ..., sum_zero_point: int = ...) -> _n.Tensor: ...
_PackedConv2D: _Op_PackedConv2D

@_t.type_check_only
class _Op_PackedDepthwiseConv2dNative(_t.Protocol):
    """`DepthwiseConv2dNative` with packed filters, and the operators that follow it."""
    def __call__(self, input: _t.Any, weights: _t.Any, args: _t.Sequence[_t.Any], residuals: _t.Sequence[_t.Any], *, data_format: str = ..., dilations: _t.Sequence[int] = ..., explicit_paddings: _t.Sequence[int] = ..., filter_shape: _t.Sequence[int], fused_ops: _t.Sequence[str] = ..., input_range: _t.Sequence[float] = ..., input_zero_point: int = ..., leakyrelu_alpha: float = ..., output_scale: float = ..., output_zero_point: int = ..., padding: str, residual_scale: float = ..., residual_zero_point: int = ..., strides: _t.Sequence[int], sum_scale: float = ..., sum_zero_point: int = ...) -> _n.Tensor: ...
_PackedDepthwiseConv2dNative: _Op_PackedDepthwiseConv2dNative

@_t.type_check_only
class _Op_PackedGru(_t.Protocol):
    """`_Gru` of the input's part of the gates, with packed weights of the state."""
    def __call__(self, *operands: _t.Any, from_x: _t.Any = ..., r: _t.Any = ..., hidden_bias: _t.Any = ..., sequence_lens: _t.Any = ..., initial_h: _t.Any = ..., activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., linear_before_reset: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_PackedGru: _Op_PackedGru

@_t.type_check_only
class _Op_PackedLstm(_t.Protocol):
    """`_Lstm` of the input's part of the gates, with packed weights of the state."""
    def __call__(self, *operands: _t.Any, from_x: _t.Any = ..., r: _t.Any = ..., sequence_lens: _t.Any = ..., initial_h: _t.Any = ..., initial_c: _t.Any = ..., p: _t.Any = ..., activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ..., input_forget: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor]: ...
_PackedLstm: _Op_PackedLstm

@_t.type_check_only
class _Op_PackedMatMul(_t.Protocol):
    """A product with packed weights, and the operators that follow it."""
    def __call__(self, a: _t.Any, weights: _t.Any, args: _t.Sequence[_t.Any], residuals: _t.Sequence[_t.Any], *, contracted: int = ..., fused_ops: _t.Sequence[str] = ..., input_range: _t.Sequence[float] = ..., input_zero_point: int = ..., leakyrelu_alpha: float = ..., output_scale: float = ..., output_zero_point: int = ..., residual_scale: float = ..., residual_zero_point: int = ..., shape: _t.Sequence[int], sum_scale: float = ..., sum_zero_point: int = ...) -> _n.Tensor: ...
_PackedMatMul: _Op_PackedMatMul

@_t.type_check_only
class _Op_PackedRnn(_t.Protocol):
    """`_Rnn` of the input's part of the gates, with packed weights of the state."""
    def __call__(self, *operands: _t.Any, from_x: _t.Any = ..., r: _t.Any = ..., sequence_lens: _t.Any = ..., initial_h: _t.Any = ..., activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_PackedRnn: _Op_PackedRnn

@_t.type_check_only
class _Op_Pool(_t.Protocol):
    """The maximum, the mean or the norm of windows over images with any number of spatial axes."""
    def __call__(self, x: _t.Any, *, ceil_mode: bool = ..., count_include_pad: bool = ..., dilations: _t.Sequence[int] = ..., kernel_shape: _t.Sequence[int], mode: str = ..., p: int = ..., pads: _t.Sequence[int] = ..., strides: _t.Sequence[int] = ...) -> _n.Tensor: ...
_Pool: _Op_Pool

@_t.type_check_only
class _Op_QuantizeLinear(_t.Protocol):
    """Numbers as the nearest bytes of a scale and a zero point, or of one for each index of an axis."""
    def __call__(self, x: _t.Any, scale: _t.Any, zero_point: _t.Any, *, axis: int = ...) -> _n.Tensor: ...
_QuantizeLinear: _Op_QuantizeLinear

@_t.type_check_only
class _Op_QuantizedConv(_t.Protocol):
    """The convolution of 8-bit images with 8-bit filters, from which zero points are subtracted."""
    def __call__(self, x: _t.Any, w: _t.Any, x_zero_point: _t.Any, w_zero_point: _t.Any, *, dilations: _t.Sequence[int] = ..., group: int = ..., pads: _t.Sequence[int] = ..., strides: _t.Sequence[int] = ...) -> _n.Tensor: ...
_QuantizedConv: _Op_QuantizedConv

@_t.type_check_only
class _Op_QuantizedMatMul(_t.Protocol):
    """The products of 8-bit matrices, from which zero points are subtracted."""
    def __call__(self, a: _t.Any, b: _t.Any, a_zero_point: _t.Any, b_zero_point: _t.Any) -> _n.Tensor: ...
_QuantizedMatMul: _Op_QuantizedMatMul

@_t.type_check_only
class _Op_Resize(_t.Protocol):
    """A tensor resampled along axes."""
    def __call__(self, x: _t.Any, roi: _t.Any, scales: _t.Any, sizes: _t.Any, *, antialias: bool = ..., axes: _t.Sequence[int], coordinate_transformation_mode: str = ..., cubic_coeff_a: float = ..., exclude_outside: bool = ..., extrapolation_value: float = ..., keep_aspect_ratio_policy: str = ..., mode: str = ..., nearest_mode: str = ...) -> _n.Tensor: ...
_Resize: _Op_Resize

@_t.type_check_only
class _Op_ResizeAreaGrad(_t.Protocol):
    """The gradient of `ResizeArea`; not an operator of TensorFlow."""
    def __call__(self, grads: _t.Any, original_image: _t.Any, *, align_corners: bool = ...) -> _n.Tensor: ...
_ResizeAreaGrad: _Op_ResizeAreaGrad

@_t.type_check_only
class _Op_ResourceSparseApplyAdam(_t.Protocol):
    """A step of Adam by the gradient of some rows of a variable. Of the other rows it is 0, and they change as well."""
    def __call__(self, var: _t.Any, m: _t.Any, v: _t.Any, beta1_power: _t.Any, beta2_power: _t.Any, lr: _t.Any, beta1: _t.Any, beta2: _t.Any, epsilon: _t.Any, grad: _t.Any, indices: _t.Any, *, use_locking: bool = ..., use_nesterov: bool = ...) -> tuple[()]: ...
_ResourceSparseApplyAdam: _Op_ResourceSparseApplyAdam

@_t.type_check_only
class _Op_Rnn(_t.Protocol):
    """Plain recurrent units over sequences, in one or both directions."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_Rnn: _Op_Rnn

@_t.type_check_only
class _Op_RnnGrad(_t.Protocol):
    """The gradient of `_Rnn`, given its states."""
    def __call__(self, x: _t.Any, w: _t.Any, r: _t.Any, b: _t.Any, sequence_lens: _t.Any, initial_h: _t.Any, y: _t.Any, y_grad: _t.Any, y_h_grad: _t.Any, *, activation_alpha: _t.Sequence[float] = ..., activation_beta: _t.Sequence[float] = ..., activations: _t.Sequence[str] = ..., clip: float = ..., direction: str = ..., hidden_size: int = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
_RnnGrad: _Op_RnnGrad

@_t.type_check_only
class _Op_RoiAlign(_t.Protocol):
    """Regions of images resampled to a fixed size, between pixels."""
    def __call__(self, x: _t.Any, rois: _t.Any, batch_indices: _t.Any, *, half_pixel: bool = ..., mode: str = ..., output_height: int = ..., output_width: int = ..., sampling_ratio: int = ..., spatial_scale: float = ...) -> _n.Tensor: ...
_RoiAlign: _Op_RoiAlign

@_t.type_check_only
class _Op_RoiAlignGradImage(_t.Protocol):
    """The gradient of `_RoiAlign` for the images."""
    def __call__(self, dy: _t.Any, x: _t.Any, rois: _t.Any, batch_indices: _t.Any, *, half_pixel: bool = ..., mode: str = ..., output_height: int = ..., output_width: int = ..., sampling_ratio: int = ..., spatial_scale: float = ...) -> _n.Tensor: ...
_RoiAlignGradImage: _Op_RoiAlignGradImage

@_t.type_check_only
class _Op_RoiAlignGradRois(_t.Protocol):
    """The gradient of `_RoiAlign` for the regions."""
    def __call__(self, dy: _t.Any, x: _t.Any, rois: _t.Any, batch_indices: _t.Any, *, half_pixel: bool = ..., mode: str = ..., output_height: int = ..., output_width: int = ..., sampling_ratio: int = ..., spatial_scale: float = ...) -> _n.Tensor: ...
_RoiAlignGradRois: _Op_RoiAlignGradRois

@_t.type_check_only
class _Op_ScatterElements(_t.Protocol):
    """A tensor with updates at positions along an axis, combined in order with the elements there."""
    def __call__(self, x: _t.Any, indices: _t.Any, updates: _t.Any, *, axis: int = ..., reduction: str = ...) -> _n.Tensor: ...
_ScatterElements: _Op_ScatterElements

@_t.type_check_only
class _Op_ScatterNdReduce(_t.Protocol):
    """A tensor with updates of slices by index, combined in order with the slices there."""
    def __call__(self, x: _t.Any, indices: _t.Any, updates: _t.Any, *, reduction: str = ...) -> _n.Tensor: ...
_ScatterNdReduce: _Op_ScatterNdReduce

@_t.type_check_only
class _Op_SequenceErase(_t.Protocol):
    """A list without the element at a position; negative ones count from the end."""
    def __call__(self, list: _t.Any, position: _t.Any) -> _n.Tensor: ...
_SequenceErase: _Op_SequenceErase

@_t.type_check_only
class _Op_SequenceInsert(_t.Protocol):
    """A list with an element inserted before a position; negative ones count from the end."""
    def __call__(self, list: _t.Any, item: _t.Any, position: _t.Any) -> _n.Tensor: ...
_SequenceInsert: _Op_SequenceInsert

@_t.type_check_only
class _Op_StringNormalizer(_t.Protocol):
    """The strings of a row without stop words, in one case; not an operator of TensorFlow."""
    def __call__(self, input: _t.Any, *, case_change_action: str = ..., is_case_sensitive: bool = ..., stopwords: _t.Sequence[str] = ...) -> _n.Tensor: ...
_StringNormalizer: _Op_StringNormalizer

@_t.type_check_only
class _Op_StringSplit(_t.Protocol):
    """The parts of strings between separators along a new axis, padded with empty strings, and the numbers of parts; not an operator of TensorFlow."""
    def __call__(self, input: _t.Any, *, delimiter: str = ..., maxsplit: int = ...) -> tuple[_n.Tensor, _n.Tensor]: ...
_StringSplit: _Op_StringSplit

@_t.type_check_only
class _Op_TfIdfVectorizer(_t.Protocol):
    """Counts of n-grams in rows of strings or numbers, weighted or not; not an operator of TensorFlow."""
    def __call__(self, input: _t.Any, *, max_gram_length: int, max_skip_count: int, min_gram_length: int, mode: str, ngram_counts: _t.Sequence[int], ngram_indexes: _t.Sequence[int], pool_int64s: _t.Sequence[int] = ..., pool_strings: _t.Sequence[str] = ..., weights: _t.Sequence[float] = ...) -> _n.Tensor: ...
_TfIdfVectorizer: _Op_TfIdfVectorizer

@_t.type_check_only
class _Op_TreeEnsemble(_t.Protocol):
    """For each row of features, the aggregated weights of the leaves that it reaches in decision trees."""
    def __call__(self, x: _t.Any, *, aggregate_function: str = ..., base_values: _t.Sequence[float] = ..., n_targets: int = ..., nodes_falsenodeids: _t.Sequence[int], nodes_featureids: _t.Sequence[int], nodes_missing_value_tracks_true: _t.Sequence[int] = ..., nodes_modes: _t.Sequence[str], nodes_nodeids: _t.Sequence[int], nodes_treeids: _t.Sequence[int], nodes_truenodeids: _t.Sequence[int], nodes_value_bits: _t.Sequence[int] = ..., nodes_values: _t.Sequence[float], target_ids: _t.Sequence[int], target_nodeids: _t.Sequence[int], target_treeids: _t.Sequence[int], target_weights: _t.Sequence[float]) -> _n.Tensor: ...
_TreeEnsemble: _Op_TreeEnsemble

@_t.type_check_only
class _Op_UnaryOpsComposition(_t.Protocol):
    """Several elementwise functions applied one after the other."""
    def __call__(self, x: _t.Any, *, op_names: _t.Sequence[str]) -> _n.Tensor: ...
_UnaryOpsComposition: _Op_UnaryOpsComposition

@_t.type_check_only
class _Op_UniqueSorted(_t.Protocol):
    """The distinct slices along an axis, sorted or in order of appearance, with positions and counts."""
    def __call__(self, x: _t.Any, *, axis: _t.Sequence[int] = ..., sorted: bool = ...) -> tuple[_n.Tensor, _n.Tensor, _n.Tensor, _n.Tensor]: ...
_UniqueSorted: _Op_UniqueSorted
