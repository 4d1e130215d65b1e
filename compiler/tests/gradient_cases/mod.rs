//! The cases of `gradients.rs`, which describes their syntax.

/// Cases of one op.
pub(crate) const OPERATORS: &[&str] = &[
    "Abs: 3@-1..1 -> 3",
    "Acos: 2x3 -> 2x3",
    "Acosh: 3@1.2..3 -> 3",
    "Asin: 3 -> 3",
    "Asinh: 3 -> 3",
    "Atan: 3 -> 3",
    "Atanh: 3 -> 3",
    "BesselI0: 3 -> 3",
    "BesselI0e: 3 -> 3",
    "BesselI1: 3 -> 3",
    "BesselI1e: 3 -> 3",
    "Cos: 3 -> 3",
    "Cosh: 3 -> 3",
    "Digamma: 3@1..2 -> 3",
    "Elu: 4@-1..1 -> 4",
    "Erf: 3 -> 3",
    "Erfc: 3 -> 3",
    "Erfinv: 3 -> 3",
    "Exp: 3 -> 3",
    "Expm1: 3 -> 3",
    "Inv: 3 -> 3",
    "Lgamma: 3@1..2 -> 3",
    "Log: 3 -> 3",
    "Log1p: 3 -> 3",
    "Ndtri: 3 -> 3",
    "Neg: 3 -> 3",
    "Reciprocal: 3 -> 3",
    "Relu: 4@-1..1 -> 4",
    "Relu6: 6@-3..9 -> 6",
    "Rsqrt: 3 -> 3",
    "Selu: 4@-1..1 -> 4",
    "Sigmoid: 3 -> 3",
    "Sign: 3@-1..1 -> 3",
    "Sin: 3 -> 3",
    "Sinh: 3 -> 3",
    "Softplus: 3@-1..1 -> 3",
    "Softsign: 3@-1..1 -> 3",
    "Sqrt: 3 -> 3",
    "Square: 3 -> 3",
    "Tan: 3 -> 3",
    "Tanh: 3 -> 3",
    "Cast: 3 -> 3",
    "CheckNumerics: 3 -> 3 <{message = \"\"}>",
    "LeakyRelu: 4@-1..1 -> 4 <{alpha = 0.1 : f32}>",
    "!_UnaryOpsComposition: 3 -> 3 <{op_names = [\"Sin\", \"Exp\"]}>",
    // Several operands, with broadcasting.
    "Add: 2x3; 3 -> 2x3",
    "AddV2: 2x1; 1x3 -> 2x3",
    "Sub: 3; 2x3 -> 2x3",
    "Mul: 2x3; 1x1 -> 2x3",
    "MulNoNan: 2x3; s -> 2x3",
    "Div: 2x3; 3 -> 2x3",
    "RealDiv: 2x3; 2x1 -> 2x3",
    "DivNoNan: 3; 3 -> 3",
    "Atan2: 2x3; 3 -> 2x3",
    "FloorMod: 2x3@3.1..3.9; s@1.1..1.4 -> 2x3",
    "Mod: 3@3.1..3.9; s@1.1..1.4 -> 3",
    "TruncateMod: 3@-3.9..-3.1; s@1.1..1.4 -> 3",
    "Maximum: 2x3; 3 -> 2x3",
    "Minimum: 2x3; 3 -> 2x3",
    "Pow: 2x3; 3 -> 2x3",
    "SquaredDifference: 2x3; 2x1 -> 2x3",
    "Xdivy: 2x3; 3 -> 2x3",
    "Xlogy: 2x3; 3 -> 2x3",
    "Xlog1py: 2x3; 3 -> 2x3",
    "Polygamma: =1.0:f64; 3@1..2 -> 3",
    "Zeta: =2.5:f64; 3@1..2 -> 3",
    "Igamma: =1.5:f64; 3 -> 3",
    "Igammac: =1.5:f64; 3 -> 3",
    "AddN: 3; 3; 3 -> 3",
    "AccumulateNV2: 3; 3 -> 3 <{shape = #tf_type.shape<3>}>",
    "ClipByValue: 2x3; s@0.3..0.31; s@0.6..0.61 -> 2x3",
    "Select: =[true,false,true]:3xi1; 3; 3 -> 3",
    "SelectV2: =[true,false,true]:3xi1; 2x3; s -> 2x3",
    "NextAfter: 3; =0.5:f64 -> 3",
    // Gradients of activation functions.
    "EluGrad: 4; 4@-0.9..0.9 -> 4",
    "SeluGrad: 4; 4@-0.9..0.9 -> 4",
    "ReluGrad: 4; 4@-1..1 -> 4",
    "Relu6Grad: 4; 4@-3..9 -> 4",
    "LeakyReluGrad: 4; 4@-1..1 -> 4",
    "SoftplusGrad: 4; 4 -> 4",
    "SoftsignGrad: 4; 4@-1..1 -> 4",
    "InvGrad: 3; 3 -> 3",
    "ReciprocalGrad: 3; 3 -> 3",
    "RsqrtGrad: 3; 3 -> 3",
    "SigmoidGrad: 3; 3 -> 3",
    "SqrtGrad: 3; 3 -> 3",
    "TanhGrad: 3; 3 -> 3",
    // Reductions.
    "Sum: 2x3; =[1]:1xi32 -> 2",
    "Sum: 2x3x2; =[0,-1]:2xi32 -> 1x3x1 <{keep_dims = true}>",
    "Sum: 0x3; =[0]:1xi32 -> 3",
    "Mean: 2x3; =[0]:1xi32 -> 3",
    "Mean: 2x3x2; =[0,1]:2xi32 -> 2",
    "Max: 2x3; =[1]:1xi32 -> 2",
    "Min: 2x3; =[0,1]:2xi32 -> s",
    "Prod: 2x3; =[1]:1xi32 -> 2",
    "Prod: 2x3x2; =[0,2]:2xi32 -> 3",
    "EuclideanNorm: 2x3; =[1]:1xi32 -> 2",
    "Cumsum: 2x3; =1:i32 -> 2x3 <{exclusive = true}>",
    "Cumsum: 2x3; =0:i32 -> 2x3 <{reverse = true}>",
    "Cumprod: 2x3; =1:i32 -> 2x3",
    "Cumprod: 2x3; =1:i32 -> 2x3 <{exclusive = true, reverse = true}>",
    "!CumulativeLogsumexp: 2x3; =1:i32 -> 2x3",
    "!CumulativeLogsumexp: 2x3; =1:i32 -> 2x3 <{reverse = true}>",
    "L2Loss: 2x3 -> s",
    "TopKV2: 2x5; =2:i32 -> 2x2; 2x2:i32",
    "TopK: 5 -> 2; 2:i32 <{k = 2 : i64}>",
    "SegmentSum: 4x2; =[0,0,1,3]:4xi32 -> 4x2",
    "SegmentMean: 4x2; =[0,0,1,1]:4xi32 -> 2x2",
    "SegmentMax: 4x2; =[0,0,1,1]:4xi32 -> 2x2",
    "SegmentMin: 4x2; =[0,0,1,1]:4xi32 -> 2x2",
    "SegmentProd: 4x2; =[0,0,1,1]:4xi32 -> 2x2",
    "UnsortedSegmentSum: 4x2; =[1,0,1,-1]:4xi32; =3:i32 -> 3x2",
    "UnsortedSegmentMax: 4x2; =[1,0,1,1]:4xi32; =2:i32 -> 2x2",
    "UnsortedSegmentMin: 4x2; =[1,0,1,1]:4xi32; =2:i32 -> 2x2",
    "UnsortedSegmentProd: 4x2; =[1,0,1,1]:4xi32; =2:i32 -> 2x2",
    // Shapes.
    "Identity: 3 -> 3",
    "Snapshot: 3 -> 3",
    "IdentityN: 3; 2 -> 3; 2",
    "EnsureShape: 3 -> 3 <{shape = #tf_type.shape<3>}>",
    "Reshape: 2x3; =[3,2]:2xi32 -> 3x2",
    "ExpandDims: 2x3; =1:i32 -> 2x1x3",
    "Squeeze: 2x1x3 -> 2x3 <{squeeze_dims = [1]}>",
    "BroadcastTo: 2x1; =[2,2,3]:3xi32 -> 2x2x3",
    "Fill: =[2,3]:2xi32; s -> 2x3",
    // Movement.
    "BatchToSpaceND: 4x1x2x1; =[2,2]:2xi32; =[[0,0],[0,1]]:2x2xi32 -> 1x2x3x1",
    "SpaceToBatchND: 1x2x3x1; =[2,2]:2xi32; =[[0,0],[0,1]]:2x2xi32 -> 4x1x2x1",
    "DepthToSpace: 1x1x2x4 -> 1x2x4x1 <{block_size = 2 : i64}>",
    "SpaceToDepth: 1x2x4x1 -> 1x1x2x4 <{block_size = 2 : i64}>",
    "Concat: =1:i32; 2x1; 2x3 -> 2x4",
    "ConcatV2: 2x1; 2x3; =-1:i32 -> 2x4",
    "ParallelConcat: 1x2; 1x2 -> 2x2 <{shape = #tf_type.shape<2x2>}>",
    "Pack: 3; 3 -> 3x2 <{axis = 1 : i64}>",
    "Unpack: 2x3 -> 2; 2; 2 <{axis = 1 : i64, num = 3 : i64}>",
    "Split: =1:i32; 2x4 -> 2x2; 2x2 <{num_split = 2 : i64}>",
    "SplitV: 2x4; =[1,3]:2xi32; =1:i32 -> 2x1; 2x3 <{num_split = 2 : i64}>",
    "Transpose: 2x3x1; =[2,0,1]:3xi32 -> 1x2x3",
    "ConjugateTranspose: 2x3; =[1,0]:2xi32 -> 3x2",
    "MirrorPad: 3x3; =[[1,1],[2,0]]:2x2xi32 -> 5x5 <{mode = \"REFLECT\"}>",
    "MirrorPadGrad: 5x5; =[[1,1],[2,0]]:2x2xi32 -> 3x3 <{mode = \"SYMMETRIC\"}>",
    "Pad: 2x3; =[[1,0],[0,2]]:2x2xi32 -> 3x5",
    "PadV2: 2x3; =[[1,0],[0,2]]:2x2xi32; =0.5:f64 -> 3x5",
    "Reverse: 2x3; =[false,true]:2xi1 -> 2x3",
    "ReverseV2: 2x3; =[1]:1xi32 -> 2x3",
    "ReverseSequence: 2x3; =[2,3]:2xi32 -> 2x3 <{seq_dim = 1 : i64}>",
    "Roll: 2x3; =[1]:1xi32; =[1]:1xi32 -> 2x3",
    "Slice: 3x4; =[1,0]:2xi32; =[2,3]:2xi32 -> 2x3",
    "StridedSlice: 4x5; =[0,4]:2xi32; =[3,0]:2xi32; =[2,-2]:2xi32 -> 2x2",
    "StridedSliceGrad: =[4,3]:2xi32; =[0,0]:2xi32; =[3,2]:2xi32; =[2,1]:2xi32; 2x2 -> 4x3",
    "TensorStridedSliceUpdate: 4x3; =[0,0]:2xi32; =[3,2]:2xi32; =[2,1]:2xi32; 2x2 -> 4x3",
    "Tile: 2x3; =[2,2]:2xi32 -> 4x6",
    "MatrixBandPart: 3x3; =1:i32; =0:i32 -> 3x3",
    "BatchMatrixBandPart: 3x3; =0:i64; =-1:i64 -> 3x3",
    "Diag: 3 -> 3x3",
    "DiagPart: 3x3 -> 3",
    "MatrixDiag: 2x3 -> 2x3x3",
    "MatrixDiagPart: 2x3x3 -> 2x3",
    "MatrixSetDiag: 2x3; 2 -> 2x3",
    "MatrixDiagV2: 2; =1:i32; =-1:i32; =-1:i32; s -> 3x3",
    "MatrixDiagV3: 2x3; =[0,1]:2xi32; =3:i32; =3:i32; s -> 3x3",
    "MatrixDiagPartV2: 3x3; =1:i32; =0.0:f64 -> 2",
    "MatrixDiagPartV3: 3x3; =[0,1]:2xi32; =0.0:f64 -> 2x3",
    "MatrixSetDiagV2: 3x3; 2; =1:i32 -> 3x3",
    "MatrixSetDiagV3: 3x3; 2x3; =[0,1]:2xi32 -> 3x3",
    // Indices.
    "Gather: 4x2; =[3,0,3]:3xi32 -> 3x2",
    "GatherV2: 4x2; =[[3,0],[1,3]]:2x2xi32; =0:i32 -> 2x2x2",
    "~GatherV2: 2x4x2; =[3,0,3]:3xi32; =1:i32 -> 2x3x2",
    "~GatherV2: 2x4x3; =[[3,0],[1,1]]:2x2xi32; =1:i32 -> 2x2x3 <{batch_dims = 1 : i64}>",
    "~GatherV2: 2x3x4; =[[3,0],[1,1]]:2x2xi32; =2:i32 -> 2x3x2 <{batch_dims = 1 : i64}>",
    "GatherNd: 3x2; =[[0,1],[2,0]]:2x2xi32 -> 2",
    "ScatterNd: =[[1],[3],[1]]:3x1xi32; 3x2; =[4,2]:2xi32 -> 4x2",
    "ScatterNdNonAliasingAdd: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "TensorScatterAdd: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "TensorScatterSub: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "TensorScatterUpdate: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "TensorScatterMax: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "TensorScatterMin: 4x2; =[[1],[3]]:2x1xi32; 2x2 -> 4x2",
    "DynamicPartition: 4x2; =[1,0,1,1]:4xi32 -> 1x2; 3x2 <{num_partitions = 2 : i64}>",
    "DynamicStitch: =[0,2]:2xi32; =[1]:1xi32; 2x2; 1x2 -> 3x2",
    "ParallelDynamicStitch: =[0,2]:2xi32; =[1]:1xi32; 2x2; 1x2 -> 3x2",
    "SparseToDense: =[1,3]:2xi32; =[4]:1xi32; 2; s -> 4",
    "SparseTensorDenseMatMul: =[[0,1],[1,0]]:2x2xi64; 2; =[2,3]:2xi64; 3x2 -> 2x2",
    "SparseTensorDenseMatMul: =[[0,1],[1,0]]:2x2xi64; 2; =[2,3]:2xi64; 3x2 -> 3x3 <{adjoint_a = true, adjoint_b = true}>",
    // Products.
    "MatMul: 2x3; 3x2 -> 2x2",
    "MatMul: 3x2; 3x2 -> 2x2 <{transpose_a = true}>",
    "MatMul: 2x3; 2x3 -> 2x2 <{transpose_b = true}>",
    "MatMul: 3x2; 2x3 -> 2x2 <{transpose_a = true, transpose_b = true}>",
    "BatchMatMul: 2x2x3; 2x3x2 -> 2x2x2",
    "BatchMatMulV2: 2x2x3; 3x2 -> 2x2x2",
    "BatchMatMulV2: 2x3x2; 1x2x3 -> 2x2x2 <{adj_x = true, adj_y = true}>",
    "BatchMatMulV3: 2x2x3; 2x2x3 -> 2x2x2 <{adj_y = true}>",
    "Einsum: 2x3; 3x2 -> 2x2 <{equation = \"ab,bc->ac\"}>",
    "Einsum: 2x3; 4x3 -> 2 <{equation = \"ab,cb->a\"}>",
    "Einsum: 2x2x3; 3x2 -> 2x2x2 <{equation = \"...ab,bc->...ac\"}>",
    "Einsum: 2x3 -> 3 <{equation = \"ab->b\"}>",
    "Einsum: 3x3 -> 3 <{equation = \"aa->a\"}>",
    "Einsum: 3x3 -> s <{equation = \"aa->\"}>",
    // Layers.
    "~BiasAdd: 2x3; 3 -> 2x3",
    "BiasAddV1: 2x3; 3 -> 2x3",
    "~BiasAdd: 1x2x2x2; 2 -> 1x2x2x2 <{data_format = \"NCHW\"}>",
    "~BiasAddGrad: 2x3 -> 3",
    "AvgPool: 1x4x4x1 -> 1x2x2x1 <{ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = \"VALID\"}>",
    "AvgPoolGrad: =[1,4,4,1]:4xi32; 1x2x2x1 -> 1x4x4x1 <{ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = \"VALID\"}>",
    "MaxPool: 1x4x4x1 -> 1x2x2x1 <{ksize = [1, 3, 3, 1], strides = [1, 2, 2, 1], padding = \"SAME\"}>",
    "MaxPoolGrad: =[[[[1.0],[2.0]],[[3.0],[0.0]]]]:1x2x2x1xf64; =[[[[3.0]]]]:1x1x1x1xf64; 1x1x1x1 -> 1x2x2x1 <{ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = \"VALID\"}>",
    "MaxPoolGradGrad: =[[[[1.0],[2.0]],[[3.0],[0.0]]]]:1x2x2x1xf64; =[[[[3.0]]]]:1x1x1x1xf64; 1x2x2x1 -> 1x1x1x1 <{ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = \"VALID\"}>",
    "MaxPoolV2: 1x4x4x1; =[1,2,2,1]:4xi32; =[1,2,2,1]:4xi32 -> 1x2x2x1 <{padding = \"VALID\"}>",
    "!MaxPool3D: 1x2x2x2x1 -> 1x1x1x1x1 <{ksize = [1, 2, 2, 2, 1], strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "AvgPool3D: 1x2x2x2x1 -> 1x1x1x1x1 <{ksize = [1, 2, 2, 2, 1], strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "AvgPool3DGrad: =[1,2,2,2,1]:5xi32; 1x1x1x1x1 -> 1x2x2x2x1 <{ksize = [1, 2, 2, 2, 1], strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv2D: 1x3x3x2; 2x2x2x2 -> 1x2x2x2 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv2D: 1x4x4x1; 3x3x1x2 -> 1x2x2x2 <{strides = [1, 2, 2, 1], padding = \"SAME\"}>",
    "Conv2DBackpropInput: =[1,3,3,1]:4xi32; 2x2x1x2; 1x2x2x2 -> 1x3x3x1 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv2DBackpropFilter: 1x3x3x1; =[2,2,1,2]:4xi32; 1x2x2x2 -> 2x2x1x2 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "DepthwiseConv2dNative: 1x3x3x2; 2x2x2x1 -> 1x2x2x2 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "DepthwiseConv2dNativeBackpropInput: =[1,3,3,2]:4xi32; 2x2x2x1; 1x2x2x2 -> 1x3x3x2 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "DepthwiseConv2dNativeBackpropFilter: 1x3x3x2; =[2,2,2,1]:4xi32; 1x2x2x2 -> 2x2x2x1 <{strides = [1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv3D: 1x2x2x2x1; 2x1x2x1x2 -> 1x1x2x1x2 <{strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv3DBackpropInputV2: =[1,2,2,2,1]:5xi32; 2x1x2x1x2; 1x1x2x1x2 -> 1x2x2x2x1 <{strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "Conv3DBackpropFilterV2: 1x2x2x2x1; =[2,1,2,1,2]:5xi32; 1x1x2x1x2 -> 2x1x2x1x2 <{strides = [1, 1, 1, 1, 1], padding = \"VALID\"}>",
    "Softmax: 2x3 -> 2x3",
    "LogSoftmax: 2x3 -> 2x3",
    "SparseSoftmaxCrossEntropyWithLogits: 2x3; =[2,0]:2xi32 -> 2; 2x3",
    // Ops of f32 only.
    "f!LRN: 1x2x2x4 -> 1x2x2x4 <{depth_radius = 1 : i64}>",
    "f!FusedBatchNorm: 2x2x1x3; 3; 3; =[0.0,0.0,0.0]:3xf32; =[1.0,1.0,1.0]:3xf32 -> 2x2x1x3; 3:f32; 3:f32; 3:f32; 3:f32 <{is_training = false}>",
    "fFusedBatchNormV2: 2x2x1x3; 3; 3; =[0.0,0.0,0.0]:3xf32; =[1.0,1.0,1.0]:3xf32 -> 2x2x1x3; 3:f32; 3:f32; 3:f32; 3:f32 <{is_training = false}>",
    "f~FusedBatchNormV3: 3x2x1x2@-1..2; 2; 2; =[]:0xf32; =[]:0xf32 -> 3x2x1x2; 2:f32; 2:f32; 2:f32; 2:f32; 0:f32 <{epsilon = 0.1 : f32}>",
    "f!_FusedBatchNormEx: 2x2x1x3; 3; 3; =[0.0,0.0,0.0]:3xf32; =[1.0,1.0,1.0]:3xf32; 2x2x1x3 -> 2x2x1x3; 3:f32; 3:f32; 3:f32; 3:f32; 3:f32 <{is_training = false, activation_mode = \"Relu\", num_side_inputs = 1 : i64}>",
    "fResizeBilinear: 1x2x3x1; =[4,4]:2xi32 -> 1x4x4x1 <{half_pixel_centers = true}>",
    "fResizeBicubic: 1x2x3x1; =[4,4]:2xi32 -> 1x4x4x1 <{half_pixel_centers = true}>",
    "fResizeNearestNeighbor: 1x2x3x1; =[4,4]:2xi32 -> 1x4x4x1",
    "fResizeBilinearGrad: 1x4x4x1; =[[[[0.0],[0.0]],[[0.0],[0.0]]]]:1x2x2x1xf32 -> 1x2x2x1",
    "fResizeBicubicGrad: 1x4x4x1; =[[[[0.0],[0.0]],[[0.0],[0.0]]]]:1x2x2x1xf32 -> 1x2x2x1",
    "fResizeNearestNeighborGrad: 1x4x4x1; =[2,2]:2xi32 -> 1x2x2x1",
    "f!CropAndResize: 1x4x4x1; =[[0.1,0.1,0.8,0.9]]:1x4xf32; =[0]:1xi32; =[2,2]:2xi32 -> 1x2x2x1",
    "f_FusedMatMul: 2x3; 3x2; 2 -> 2x2 <{fused_ops = [\"BiasAdd\", \"Tanh\"], num_args = 1 : i64}>",
    "f_FusedConv2D: 1x3x3x1; 2x2x1x2; 2 -> 1x2x2x2 <{strides = [1, 1, 1, 1], padding = \"VALID\", fused_ops = [\"BiasAdd\", \"Sigmoid\"], num_args = 1 : i64}>",
    "f_FusedDepthwiseConv2dNative: 1x3x3x2; 2x2x2x1; 2 -> 1x2x2x2 <{strides = [1, 1, 1, 1], padding = \"VALID\", fused_ops = [\"BiasAdd\", \"Elu\"], num_args = 1 : i64}>",
    "f_Gelu: 4@-1..1 -> 4",
    "f_Gelu: 4@-1..1 -> 4 <{approximate = true}>",
    "f~_LayerNorm: 2x4@-1..2; 4; 4 -> 2x4 <{epsilon = 0.1 : f32}>",
    "f~_FusedAttention: 1x2x3x2; 1x2x3x2; 1x2x3x2 -> 1x2x3x2 <{scale = 0.5 : f32}>",
    // Linear algebra.
    "Cross: 2x3; 2x3 -> 2x3",
    "MatrixDeterminant: 3x3 -> s",
    "LogMatrixDeterminant: 3x3 -> s; s",
    "MatrixInverse: 2x2 -> 2x2",
    "MatrixInverse: 2x2 -> 2x2 <{adjoint = true}>",
    "MatrixSolve: 2x2; 2x1 -> 2x1",
    "MatrixSolve: 2x2; 2x1 -> 2x1 <{adjoint = true}>",
    "MatrixTriangularSolve: 2x2; 2x1 -> 2x1",
    "MatrixTriangularSolve: 2x2; 2x1 -> 2x1 <{adjoint = true, lower = false}>",
    "~Qr: 3x2 -> 3x2; 2x2",
    "~Qr: 2x3 -> 2x2; 2x3",
];

/// Cases of several ops: name, arguments, ops, results.
pub(crate) const COMPOSED: &[(&str, &str, &str, &str)] = &[
    (
        "Complex",
        "3; 3",
        r#"  %z = "tf.Complex"(%x0, %x1) : (TYPE0, TYPE1) -> tensor<3xcomplex<f64>>
  %w = "tf.Square"(%z) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  %v = "tf.Conj"(%w) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  %u = "tf.Exp"(%v) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  %y0 = "tf.Real"(%u) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %y1 = "tf.Imag"(%u) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %y2 = "tf.ComplexAbs"(%u) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  %y3 = "tf.Angle"(%z) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
"#,
        "3; 3; 3; 3",
    ),
    (
        "SoftmaxCrossEntropyWithLogits",
        "2x3; 2x3",
        r#"  %labels = "tf.Softmax"(%x1) : (TYPE1) -> tensor<2x3xf64>
  %y0, %y1 = "tf.SoftmaxCrossEntropyWithLogits"(%x0, %labels) : (TYPE0, tensor<2x3xf64>) -> (tensor<2xf64>, tensor<2x3xf64>)
"#,
        "2; 2x3",
    ),
    (
        "complex products",
        "2x2; 2x2",
        r#"  %z = "tf.Complex"(%x0, %x1) : (TYPE0, TYPE1) -> tensor<2x2xcomplex<f64>>
  %w = "tf.MatMul"(%z, %z) <{transpose_a = true}> : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %v = "tf.BatchMatMulV2"(%w, %z) <{adj_y = true}> : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %u = "tf.RealDiv"(%v, %z) : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %y0 = "tf.Real"(%u) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  %y1 = "tf.Imag"(%u) : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
"#,
        "2x2; 2x2",
    ),
    (
        "Fourier transforms",
        "2x2x4; 2x2x4",
        r#"  %z = "tf.Complex"(%x0, %x1) : (TYPE0, TYPE1) -> tensor<2x2x4xcomplex<f64>>
  %a = "tf.FFT"(%z) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %b = "tf.IFFT2D"(%a) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %c = "tf.FFT3D"(%b) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %d = "tf.IFFT"(%c) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %e = "tf.FFT2D"(%d) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %f = "tf.IFFT3D"(%e) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %s = "tf.Square"(%f) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xcomplex<f64>>
  %y0 = "tf.Real"(%s) : (tensor<2x2x4xcomplex<f64>>) -> tensor<2x2x4xf64>
"#,
        "2x2x4",
    ),
    (
        "real Fourier transforms",
        "2x2x5",
        r#"  %n = "tf.Const"() <{value = dense<5> : tensor<1xi32>}> : () -> tensor<1xi32>
  %n2 = "tf.Const"() <{value = dense<[2, 4]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %n3 = "tf.Const"() <{value = dense<[2, 2, 4]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %a = "tf.RFFT"(%x0, %n) : (TYPE0, tensor<1xi32>) -> tensor<2x2x3xcomplex<f64>>
  %b = "tf.IRFFT"(%a, %n) : (tensor<2x2x3xcomplex<f64>>, tensor<1xi32>) -> tensor<2x2x5xf64>
  %c = "tf.RFFT2D"(%b, %n2) : (tensor<2x2x5xf64>, tensor<2xi32>) -> tensor<2x2x3xcomplex<f64>>
  %d = "tf.Square"(%c) : (tensor<2x2x3xcomplex<f64>>) -> tensor<2x2x3xcomplex<f64>>
  %e = "tf.IRFFT2D"(%d, %n2) : (tensor<2x2x3xcomplex<f64>>, tensor<2xi32>) -> tensor<2x2x4xf64>
  %f = "tf.RFFT3D"(%e, %n3) : (tensor<2x2x4xf64>, tensor<3xi32>) -> tensor<2x2x3xcomplex<f64>>
  %y0 = "tf.IRFFT3D"(%f, %n3) : (tensor<2x2x3xcomplex<f64>>, tensor<3xi32>) -> tensor<2x2x4xf64>
"#,
        "2x2x4",
    ),
    (
        "Cholesky",
        "3x3",
        r#"  %a = "tf.BatchMatMulV2"(%x0, %x0) <{adj_y = true}> : (TYPE0, TYPE0) -> tensor<3x3xf64>
  %i = "tf.Const"() <{value = dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>}> : () -> tensor<3x3xf64>
  %b = "tf.AddV2"(%a, %i) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %y0 = "tf.Cholesky"(%b) : (tensor<3x3xf64>) -> tensor<3x3xf64>
"#,
        "3x3",
    ),
    (
        "SelfAdjointEigV2",
        "3x3",
        r#"  %p = "tf.Const"() <{value = dense<[1, 0]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %t = "tf.Transpose"(%x0, %p) : (TYPE0, tensor<2xi32>) -> tensor<3x3xf64>
  %a = "tf.AddV2"(%x0, %t) : (TYPE0, tensor<3x3xf64>) -> tensor<3x3xf64>
  %y0, %v = "tf.SelfAdjointEigV2"(%a) <{compute_v = true}> : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  %y1 = "tf.Square"(%v) : (tensor<3x3xf64>) -> tensor<3x3xf64>
"#,
        "3; 3x3",
    ),
    (
        "~Svd",
        "3x2",
        r#"  %y0, %u, %v = "tf.Svd"(%x0) <{compute_uv = true, full_matrices = false}> : (TYPE0) -> (tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>)
  %y1 = "tf.Square"(%u) : (tensor<3x2xf64>) -> tensor<3x2xf64>
  %y2 = "tf.Square"(%v) : (tensor<2x2xf64>) -> tensor<2x2xf64>
"#,
        "2; 3x2; 2x2",
    ),
];
