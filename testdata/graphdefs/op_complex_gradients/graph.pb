
8
y_complex64Placeholder*
dtype0*
shape:
9
dy_complex64Placeholder*
dtype0*
shape:
8
TanhGradTanhGrady_complex64dy_complex64*
T0
1
TanhGrad_complex64IdentityTanhGrad*
T0
>
SigmoidGradSigmoidGrady_complex64dy_complex64*
T0
7
SigmoidGrad_complex64IdentitySigmoidGrad*
T0
8
SqrtGradSqrtGrady_complex64dy_complex64*
T0
1
SqrtGrad_complex64IdentitySqrtGrad*
T0
:
	RsqrtGrad	RsqrtGrady_complex64dy_complex64*
T0
3
RsqrtGrad_complex64Identity	RsqrtGrad*
T0
D
ReciprocalGradReciprocalGrady_complex64dy_complex64*
T0
=
ReciprocalGrad_complex64IdentityReciprocalGrad*
T0
6
InvGradInvGrady_complex64dy_complex64*
T0
/
InvGrad_complex64IdentityInvGrad*
T0
[
PlaceholderWithDefaultPlaceholderWithDefaulty_complex64*
dtype0*
shape:
5
IdentityIdentityPlaceholderWithDefault*
T0
0
default_complex64IdentityIdentity*
T0
f
PlaceholderWithDefault_1PlaceholderWithDefaulty_complex64*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
G
default_of_any_complex64IdentityPlaceholderWithDefault_1*
T0
9
y_complex128Placeholder*
dtype0*
shape:
:
dy_complex128Placeholder*
dtype0*
shape:
<

TanhGrad_1TanhGrady_complex128dy_complex128*
T0
4
TanhGrad_complex128Identity
TanhGrad_1*
T0
B
SigmoidGrad_1SigmoidGrady_complex128dy_complex128*
T0
:
SigmoidGrad_complex128IdentitySigmoidGrad_1*
T0
<

SqrtGrad_1SqrtGrady_complex128dy_complex128*
T0
4
SqrtGrad_complex128Identity
SqrtGrad_1*
T0
>
RsqrtGrad_1	RsqrtGrady_complex128dy_complex128*
T0
6
RsqrtGrad_complex128IdentityRsqrtGrad_1*
T0
H
ReciprocalGrad_1ReciprocalGrady_complex128dy_complex128*
T0
@
ReciprocalGrad_complex128IdentityReciprocalGrad_1*
T0
:
	InvGrad_1InvGrady_complex128dy_complex128*
T0
2
InvGrad_complex128Identity	InvGrad_1*
T0
^
PlaceholderWithDefault_2PlaceholderWithDefaulty_complex128*
dtype0*
shape:
9

Identity_1IdentityPlaceholderWithDefault_2*
T0
3
default_complex128Identity
Identity_1*
T0
g
PlaceholderWithDefault_3PlaceholderWithDefaulty_complex128*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
H
default_of_any_complex128IdentityPlaceholderWithDefault_3*
T0