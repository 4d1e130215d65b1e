//! Kernels that set attributes one by one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bef_format::AttrView;
use befrost_kernel_api::kernel::{KernelUse, Prepare, Prepared, RawAttr};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{Chain, ExecContext, Registry, kernel};

use crate::attrs::{AttrValue, OpAttrs, OpAttrsRef};

/// A `!corert.opattrs`.
#[derive(Debug, Default)]
struct AttrsValue(Mutex<OpAttrs>);

impl AttrsValue {
    fn lock(&self) -> MutexGuard<'_, OpAttrs> {
        // Nothing panics under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for AttrsValue {
    const TYPES: &'static [&'static str] = &["!corert.opattrs"];

    fn display(&self) -> String {
        self.lock().freeze().to_string().trim_end().to_owned()
    }
}

impl Object for OpAttrsRef {
    const TYPES: &'static [&'static str] = &["!corert.opattrs_ref"];

    fn display(&self) -> String {
        self.to_string().trim_end().to_owned()
    }
}

/// An attribute to be set: its name and its value.
struct Setting(String, AttrValue);

impl Prepare for Setting {
    fn prepare(site: &KernelUse<'_>) -> Result<Setting, String> {
        let (key, value) = (site.attr(0), site.attr(1));
        let Some(AttrView::Str(key)) = key.map(|key| key.view) else {
            return Err("the name of the attribute is no string".to_owned());
        };
        let value = value.map(|value| AttrValue::decode(&value, site)).ok_or("there is no value")?;
        let kind = site.name().rsplit_once('.').map_or("", |(_, kind)| kind);
        let value = match (kind, value) {
            // TFRT stores a truth value as an i8.
            ("bool", AttrValue::Int(_, value)) => AttrValue::Bool(value != 0),
            (_, value) => value,
        };
        let is_right = match kind {
            _ if site.name().contains("set_array") => {
                matches!(&value, AttrValue::Ints(..) | AttrValue::Floats(..))
                    || matches!(&value, AttrValue::List(values) if values.is_empty())
            }
            "aggregate" => matches!(value, AttrValue::List(_) | AttrValue::Ints(..) | AttrValue::Floats(..)),
            "bool" => matches!(value, AttrValue::Bool(_)),
            "dense" => matches!(value, AttrValue::Dense(_)),
            "dtype" => matches!(value, AttrValue::Type(_)),
            "f32" => matches!(value, AttrValue::Float(..)),
            "i32" => matches!(value, AttrValue::Int(..)),
            "shape" => matches!(value, AttrValue::Shape(_)),
            "str" => matches!(value, AttrValue::Str(_)),
            _ => false,
        };
        if is_right {
            Ok(Setting(key.to_owned(), value))
        } else {
            Err(format!("the value is no {kind}: {value}"))
        }
    }
}

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("corert.create_op_attrs", AttrsValue::default));
    for name in [
        "corert.op_attrs_set.aggregate",
        "corert.op_attrs_set.bool",
        "corert.op_attrs_set.dense",
        "corert.op_attrs_set.dtype",
        "corert.op_attrs_set.f32",
        "corert.op_attrs_set.i32",
        "corert.op_attrs_set.shape",
        "corert.op_attrs_set.str",
        "corert.op_attrs_set_array.f32",
        "corert.op_attrs_set_array.i32",
        "corert.op_attrs_set_array.i64",
    ] {
        registry.add(kernel!(name, set));
    }
    registry.add(kernel!("tfrt_test.corert.op_attrs_freeze", |attrs: &AttrsValue, _: Chain| {
        (attrs.lock().freeze(), Chain)
    }));
    registry.add(kernel!(
        "tfrt_test.corert.op_attrs_print",
        |attrs: &AttrsValue, _: Chain, cx: &ExecContext| {
            let text = attrs.lock().freeze().to_string();
            cx.print(&text).map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "tfrt_test.corert.op_attrs_ref_print",
        |attrs: &OpAttrsRef, _: Chain, cx: &ExecContext| cx.print(&attrs.to_string()).map(|()| Chain)
    ));
}

fn set(attrs: &AttrsValue, setting: Prepared<'_, Setting>, _key: RawAttr<'_>, _value: RawAttr<'_>) -> Chain {
    let Setting(name, value) = setting.0;
    attrs.lock().insert(name, value.clone());
    Chain
}
