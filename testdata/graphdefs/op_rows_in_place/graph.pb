
2
xPlaceholder*
dtype0*
shape
:
5
rowsPlaceholder*
dtype0*
shape
:
/
atPlaceholder*
dtype0*
shape:
 
DeepCopyDeepCopyx*
T0
;
InplaceUpdateInplaceUpdateDeepCopyatrows*
T0
3
InplaceUpdate_1IdentityInplaceUpdate*
T0
"

DeepCopy_1DeepCopyx*
T0
7

InplaceAdd
InplaceAdd
DeepCopy_1atrows*
T0
-
InplaceAdd_1Identity
InplaceAdd*
T0
"

DeepCopy_2DeepCopyx*
T0
7

InplaceSub
InplaceSub
DeepCopy_2atrows*
T0
-
InplaceSub_1Identity
InplaceSub*
T0