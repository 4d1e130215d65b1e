//! `ts` and `ts_sync`: shapes as values.

use bef_format::{AttrView, DType};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Attr, RawAttr};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::{Dims, Shape, matmul_shape, reduce_shape};

use crate::objects::{PartialShape, ShapeValue, refused};

/// Adds the kernels of the `ts` and `ts_sync` dialects.
pub fn ts(registry: &mut Registry) {
    for_both(registry);
    registry.add(kernel!("ts.build_unranked_partial_shape", || PartialShape(None)));
    registry.add(kernel!("ts.print_shape", |shape: &ShapeValue, _: Chain, cx: &ExecContext| {
        cx.print(&format!("{}\n", shape.display())).map(|()| Chain)
    }));
    registry.add(kernel!("ts.print_partial_shape", |shape: &PartialShape, _: Chain, cx: &ExecContext| {
        cx.print(&format!("partial_tensor_shape = {shape}\n")).map(|()| Chain)
    }));
    registry.add(kernel!("ts.equal_shape", |a: &ShapeValue, b: &ShapeValue| a.0 == b.0));
    registry.add(kernel!("ts.get_dimension", get_dimension));
    registry.add(kernel!("ts.matmul_shape", |a: &ShapeValue, b: &ShapeValue| {
        let product = matmul_shape(&a.of_tensor()?, &b.of_tensor()?).map_err(refused)?;
        Ok::<_, KernelError>(ShapeValue(Dims::from(&product)))
    }));
    registry.add(kernel!("ts.reduce_shape", |shape: &ShapeValue, axis: Attr<i32>| {
        let reduced = reduce_shape(&shape.of_tensor()?, i64::from(axis.0)).map_err(refused)?;
        Ok::<_, KernelError>(ShapeValue(Dims::from(&reduced)))
    }));
    fixed_ranks(registry);
}

fn for_both(registry: &mut Registry) {
    twins! { registry, "ts";
        "build_shape" => |value: RawAttr<'_>| Dims::from_i64(&dims(&value)?).map(ShapeValue).map_err(refused);
        "build_partial_shape" => |value: RawAttr<'_>| partial_shape_attr(&value);
        "get_num_elements" => |shape: &ShapeValue| shape.0.num_elements().map(|n| n as i64).map_err(refused);
        "to_shape" => to_shape;
        "to_partial_shape" => |shape: &ShapeValue| {
            PartialShape(Some(shape.0.as_slice().iter().copied().map(Some).collect()))
        };
    }
}

/// A shape with a static rank.
#[derive(Clone, Debug)]
struct FixedRank<const RANK: usize>(Dims);

macro_rules! fixed_rank_kernels {
    ($($rank:literal $name:literal)*) => {
        $(
            impl Object for FixedRank<$rank> {
                const TYPES: &'static [&'static str] = &[$name];

                fn display(&self) -> String {
                    format!("shape = {}", self.0)
                }
            }
        )*

        fn fixed_ranks(registry: &mut Registry) {
            $(
                registry.add(kernel!(concat!("ts.as_fixed_rank_shape.", $rank), |shape: &ShapeValue| {
                    match shape.0.rank() {
                        $rank => Ok(FixedRank::<$rank>(shape.0.clone())),
                        rank => Err(KernelError::invalid(format!("a shape of rank {rank} is none of rank {}", $rank))),
                    }
                }));
                registry.add(kernel!(
                    concat!("ts.print_fixed_rank_shape.", $rank),
                    |shape: &FixedRank<$rank>, _: Chain, cx: &ExecContext| {
                        cx.print(&format!("fixed_rank_{}\n", shape.display())).map(|()| Chain)
                    }
                ));
            )*
        }
    };
}

fixed_rank_kernels!(1 "!ts.fixed_rank_shape.1" 2 "!ts.fixed_rank_shape.2" 3 "!ts.fixed_rank_shape.3");

/// The shape, if all of its dimensions are known.
fn to_shape(shape: &PartialShape) -> Result<ShapeValue, KernelError> {
    let Some(dims) = &shape.0 else { return Err(KernelError::invalid("Unknown rank")) };
    let unknown = dims.iter().enumerate().filter(|(_, dim)| dim.is_none());
    let unknown: Vec<String> = unknown.map(|(i, _)| i.to_string()).collect();
    if !unknown.is_empty() {
        let list = unknown.join(", ");
        return Err(KernelError::invalid(format!("Unknown dimensions at following indices = [{list}]")));
    }
    let known: Vec<usize> = dims.iter().copied().flatten().collect();
    Dims::new(&known).map(ShapeValue).map_err(refused)
}

fn get_dimension(shape: &ShapeValue, index: i32) -> Result<i64, KernelError> {
    let dim = usize::try_from(index).ok().and_then(|i| shape.0.as_slice().get(i));
    dim.map(|&dim| dim as i64).ok_or_else(|| {
        let message = format!("dimension {index} of shape {} of rank {}", shape.0, shape.0.rank());
        KernelError::new(ErrorCode::OutOfRange, message)
    })
}

/// The shape in an attribute, an array of i64.
pub(crate) fn shape_attr(attr: &RawAttr<'_>) -> Result<Shape, KernelError> {
    Shape::from_i64(&dims(attr)?).map_err(refused)
}

/// The partial shape in an attribute; negative dimensions are unknown.
fn partial_shape_attr(attr: &RawAttr<'_>) -> Result<PartialShape, KernelError> {
    let dims = dims(attr)?;
    let known = |dim: i64| usize::try_from(dim).ok();
    Ok(PartialShape(Some(dims.into_iter().map(known).collect())))
}

fn dims(attr: &RawAttr<'_>) -> Result<Vec<i64>, KernelError> {
    match attr.view {
        AttrView::Scalars { dtype: DType::I64, bytes, .. } => {
            Ok(bytes.as_chunks().0.iter().copied().map(i64::from_le_bytes).collect())
        }
        AttrView::Shape(dims) => Ok(dims.to_vec()),
        AttrView::Array([]) => Ok(Vec::new()),
        other => Err(KernelError::invalid(format!("expected an array of i64 as shape, got {other:?}"))),
    }
}
