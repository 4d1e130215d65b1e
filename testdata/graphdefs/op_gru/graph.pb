
2
xPlaceholder*
dtype0*
shape
:
2
hPlaceholder*
dtype0*
shape
:
5
w_ruPlaceholder*
dtype0*
shape
:
4
w_cPlaceholder*
dtype0*
shape
:
1
b_ruPlaceholder*
dtype0*
shape:
0
b_cPlaceholder*
dtype0*
shape:
3
dhPlaceholder*
dtype0*
shape
:
A
GRUBlockCellGRUBlockCellxhw_ruw_cb_rub_c*
T0
)
cell_0IdentityGRUBlockCell*
T0
+
cell_1IdentityGRUBlockCell:1*
T0
+
cell_2IdentityGRUBlockCell:2*
T0
+
cell_3IdentityGRUBlockCell:3*
T0
{
GRUBlockCellGradGRUBlockCellGradxhw_ruw_cb_rub_cGRUBlockCellGRUBlockCell:1GRUBlockCell:2dh*
T0
-
grad_0IdentityGRUBlockCellGrad*
T0
/
grad_1IdentityGRUBlockCellGrad:1*
T0
/
grad_2IdentityGRUBlockCellGrad:2*
T0
/
grad_3IdentityGRUBlockCellGrad:3*
T0