
.
xPlaceholder*
shape:*
dtype0
f
PrintPrintxx*
messageval: *

U
2*
first_nÿÿÿÿÿÿÿÿÿ*
	summarize*
T0

yIdentityPrint*
T0"ª