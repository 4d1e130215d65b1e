//! Tests of stateful operators, called with values as in the executor.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use befrost_host::queue::SingleThreaded;
use befrost_kernel_api::context::{Request, ResourceName};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::mem::{Allocator, Buffer, Limited, Malloc};
use befrost_tensor::tf::op::{Attributes, Attrs, Signature, Type, row, rows};
use befrost_tensor::tf::{Binary, PartialShape, accumulate};
use befrost_tensor::{DType, HostTensor, Shape, literal, print};

use super::action::tensor;
use super::files::allow_folder;
use super::optionals;
use super::strings::{strings, strings_in};
use super::tables::ActionMaker;
use super::variables::{self, assign_variable_values, remove_variable, variable_values};
use crate::objects::Tensor;

mod crosses;
mod pictures;
mod texts;

/// Attributes as `name=value`; the requested kind decides how a value is parsed.
struct Text(BTreeMap<&'static str, &'static str>);

impl Attrs for Text {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
    fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.parse().ok()
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.parse().ok()
    }
    fn bool(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.parse().ok()
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.0.get(name)?.as_bytes()))
    }
    fn ty(&self, name: &str) -> Option<Type> {
        type_of(self.0.get(name)?)
    }
    fn shape(&self, name: &str) -> Option<PartialShape> {
        PartialShape::from_i64(&self.ints(name)?).ok()
    }
    fn tensor(&self, _: &str) -> Option<HostTensor> {
        None
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.0.get(name)?.split(',').map(|text| text.parse().ok()).collect()
    }
    fn floats(&self, _: &str) -> Option<Vec<f64>> {
        None
    }
    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        Some(vec![self.0.get(name)?.as_bytes().to_vec()])
    }
    fn types(&self, name: &str) -> Option<Vec<Type>> {
        self.0.get(name)?.split_terminator(',').map(type_of).collect()
    }
    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        Some(vec![self.shape(name)?])
    }
}

fn type_of(word: &str) -> Option<Type> {
    match word {
        "variant" => Some(Type::Variant),
        word => word.parse().ok().map(Type::Dense),
    }
}

fn context() -> ExecContext {
    ExecContext::new(Arc::new(Request::new(SingleThreaded::new())))
}

/// The attributes that most operators here have in common.
fn usual() -> Text {
    let given = [("element_dtype", "f32"), ("dtype", "f32"), ("elem_type", "f32"), ("out_type", "f32")];
    let tables = [("key_dtype", "i64"), ("value_dtype", "f32"), ("key_index", "0"), ("value_index", "1")];
    let texts =
        [("pattern", "a"), ("rewrite", "b"), ("mode", "TF"), ("ngram_counts", "0"), ("ngram_indexes", "0")];
    let grams =
        [("pool_int64s", "1"), ("min_gram_length", "1"), ("max_gram_length", "1"), ("max_skip_count", "0")];
    let given = given
        .into_iter()
        .chain([("num_buckets", "7"), ("limit", "9"), ("dtypes", "f32"), ("shape_type", "i32")])
        .chain(tables);
    let examples = [("Tdense", "f32"), ("dense_shapes", "2"), ("dense_keys", "d"), ("sparse_types", "f32")];
    let ragged = [("sparse_keys", "s"), ("ragged_value_types", "f32"), ("ragged_split_types", "i64")];
    let pads =
        [("left_pad", ""), ("right_pad", ""), ("separator", ","), ("ngram_widths", "2"), ("pad_width", "0")];
    let codes = [("preserve_short_sequences", "false"), ("key", "1,2"), ("OUT_TYPE", "f32")];
    let encodings = [("input_encoding", "UTF-8"), ("output_encoding", "UTF-8")];
    let given = given.chain(texts).chain(grams).chain(examples).chain(ragged);
    let context = [("context_dense_shapes", "2"), ("context_dense_keys", "d"), ("context_sparse_keys", "s")];
    let context_types = [("Tcontext_dense", "f32"), ("context_sparse_types", "f32")];
    let lists = [("feature_list_dense_shapes", "2"), ("feature_list_dense_types", "f32")];
    let list_keys = [("feature_list_dense_keys", "d"), ("feature_list_sparse_keys", "s")];
    let list_types =
        [("feature_list_sparse_types", "f32"), ("feature_list_dense_missing_assumed_empty", "d")];
    let given = given.chain(pads).chain(codes).chain(encodings).chain(context).chain(context_types);
    let given = given.chain(lists).chain(list_keys).chain(list_types);
    let crosses =
        [("dense_types", "i64"), ("internal_type", "i64"), ("hash_key", "1"), ("hashed_output", "true")];
    let given = given.chain(crosses);
    Text(given.chain([("shape", "2"), ("element_shape", "2"), ("source", "g")]).collect())
}

/// Those of them that an operator requires.
fn required(signature: &Signature) -> Text {
    let mut given = usual();
    given.0.insert("message", "");
    given.0.retain(|name, _| signature.attr(name).is_some_and(|attr| attr.default.is_none()));
    given
}

/// A caller of operators in one context.
struct Caller(ExecContext);

impl Caller {
    fn with(
        &self,
        op: &str,
        more: &[(&'static str, &'static str)],
        operands: &[Value],
    ) -> Result<Vec<Value>, KernelError> {
        let mut attrs = usual();
        attrs.0.extend(more.iter().copied());
        let row = row(op).unwrap_or_else(|| panic!("{op} has no row"));
        let signature = row.signature();
        let maker = ActionMaker::of(row.op.unwrap()).unwrap_or_else(|| panic!("{op} has no kernel"));
        let action =
            maker.make(&Attributes::new(signature, &attrs)).unwrap_or_else(|error| panic!("{op}: {error}"));
        action.call(&operands.iter().collect::<Vec<_>>(), &self.0).map(|results| results.into_vec())
    }

    fn call(&self, op: &str, operands: &[&Value]) -> Value {
        let operands: Vec<Value> = operands.iter().map(|&value| value.clone()).collect();
        let results = self.with(op, &[], &operands).unwrap_or_else(|error| panic!("{op}: {error:?}"));
        results.into_iter().next().unwrap_or_default()
    }

    fn error(&self, op: &str, operands: &[&Value]) -> KernelError {
        let operands: Vec<Value> = operands.iter().map(|&value| value.clone()).collect();
        self.with(op, &[], &operands).expect_err(op)
    }
}

fn value(text: &str) -> Value {
    tensor(literal::parse(text, &Malloc::shared()).unwrap())
}

fn shown(value: &Value) -> String {
    print::tensor(&value.downcast_ref::<Tensor>().unwrap().0).unwrap()
}

fn texts(all: &[&str]) -> Value {
    strings(&Shape::new(&[all.len()]).unwrap(), all, &Malloc::shared()).unwrap()
}

fn text(text: &str) -> Value {
    strings(&Shape::scalar(), &[text], &Malloc::shared()).unwrap()
}

#[test]
fn tensors_are_saved_merged_and_restored_in_allowed_folders_only() {
    let c = Caller(context());
    let root = std::env::temp_dir().join(format!("befrost-files-{}", std::process::id()));
    let inside = root.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    let path = |name: &str| inside.join(name).display().to_string();
    let save = |prefix: &str, names: &[&str], slices: &[&str], tensors: &[Value]| {
        let operands = [&[text(prefix), texts(names), texts(slices)], tensors].concat();
        c.with("SaveV2", &[], &operands)
    };
    let (x, y) = (value("f32[3]:1,2,3"), value("f32[1]:4"));
    let refusal = |why: KernelError| (why.code(), why.message().to_owned());
    let (code, why) = refusal(save(&path("a"), &["x"], &[""], std::slice::from_ref(&x)).unwrap_err());
    assert_eq!(code, ErrorCode::FailedPrecondition);
    assert!(why.contains("may not touch this file; allowed folders: none"), "{why}");

    allow_folder(&c.0.request.resources, &inside).unwrap();
    save(&path("t/part-0"), &["w", "s"], &["4 0,3", ""], &[x.clone(), texts(&["ab", ""])]).unwrap();
    save(&path("t/part-1"), &["w"], &["4 3,1"], &[y]).unwrap();
    let parts = texts(&[&path("t/part-0"), &path("t/part-1")]);
    let operands = [parts.clone(), text(&path("model"))];
    c.with("MergeV2Checkpoints", &[("delete_old_dirs", "true"), ("allow_missing_files", "false")], &operands)
        .unwrap();
    assert!(!inside.join("t").exists() && inside.join("model.data-00001-of-00002").is_file());
    let restore = |prefix: &str, name: &str, slice: &str| {
        c.with("RestoreV2", &[], &[text(prefix), texts(&[name]), texts(&[slice])]).map(|all| all[0].clone())
    };
    assert_eq!(shown(&restore(&path("model"), "w", "").unwrap()), shown(&value("f32[4]:1,2,3,4")));
    assert_eq!(shown(&restore(&path("model"), "w", "4 2,2").unwrap()), shown(&value("f32[2]:3,4")));
    let why = |found: Result<Value, KernelError>| refusal(found.unwrap_err()).1;
    assert!(why(restore(&path("model"), "s", "")).contains("tensor 's' is of type"));
    assert!(why(restore(&path("model"), "v", "")).contains("tensor 'v': there is no such tensor"));
    assert!(why(restore(&path("none"), "v", "")).contains("none.index: No such file"));
    let missing = [parts, text(&path("again"))];
    for (allowed, want) in [("false", "part-0.index"), ("true", "there are no parts")] {
        let attrs = [("delete_old_dirs", "true"), ("allow_missing_files", allowed)];
        let why = refusal(c.with("MergeV2Checkpoints", &attrs, &missing).unwrap_err()).1;
        assert!(why.contains(want), "{why}");
    }
    // Ways out: above, beside what is not there, by a link, to a link.
    std::os::unix::fs::symlink(&root, inside.join("link")).unwrap();
    std::os::unix::fs::symlink(root.join("to"), inside.join("dangling.index")).unwrap();
    for (name, want) in [
        ("../out", "may not touch this file; allowed folders: "),
        ("none/../../out", "it is no path of a file"),
        ("link/out", "may not touch this file"),
        ("dangling", "No such file"),
    ] {
        let why = refusal(save(&path(name), &["x"], &[""], std::slice::from_ref(&x)).unwrap_err()).1;
        assert!(why.contains(want), "{name}: {why}");
    }
    let outside: Vec<_> =
        std::fs::read_dir(&root).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(outside, ["inside"]);
    let name = |op: &str, operands: &[Value]| {
        let made = c.with(op, &[], operands).unwrap();
        let made = strings_in(&made[0]).unwrap().read().unwrap().at(0).unwrap().to_vec();
        String::from_utf8(made).unwrap()
    };
    let (base, shard, n) = (text("a/b"), value("i32:1"), value("i32:12"));
    assert_eq!(name("ShardedFilename", &[base.clone(), shard, n.clone()]), "a/b-00001-of-00012");
    assert_eq!(name("ShardedFilespec", &[base, n]), "a/b-?????-of-00012");
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn lists_are_values() {
    let c = Caller(context());
    let (shape, x, y) = (value("i32[1]:2"), value("f32[2]:1,2"), value("f32[2]:3,4"));
    let empty = c.call("EmptyTensorList", &[&shape, &value("i32:-1")]);
    let one = c.call("TensorListPushBack", &[&empty, &x]);
    let two = c.call("TensorListPushBack", &[&one, &y]);
    assert_eq!(shown(&c.call("TensorListLength", &[&one])), shown(&value("i32:1")));
    assert_eq!(shown(&c.call("TensorListStack", &[&two, &shape])), shown(&value("f32[2x2]:1,2,3,4")));
    let popped = c.with("TensorListPopBack", &[], &[two.clone(), shape.clone()]).unwrap();
    assert_eq!(shown(&popped[1]), shown(&y));
    assert_eq!(shown(&c.call("TensorListStack", &[&popped[0], &shape])), shown(&value("f32[1x2]:1,2")));
    let set = c.call("TensorListSetItem", &[&two, &value("i32:0"), &y]);
    assert_eq!(shown(&c.call("TensorListGetItem", &[&set, &value("i32:0"), &shape])), shown(&y));
    assert_eq!(shown(&c.call("TensorListGetItem", &[&two, &value("i32:0"), &shape])), shown(&x));
    let rows = value("f32[2x2]:1,2,3,4");
    let scattered = c.call("TensorListScatterV2", &[&rows, &value("i32[2]:2,0"), &shape, &value("i32:3")]);
    let gathered = c.call("TensorListGather", &[&scattered, &value("i32[3]:0,1,2"), &shape]);
    assert_eq!(shown(&gathered), shown(&value("f32[3x2]:3,4,0,0,1,2")));
    let both = c.call("TensorListConcatLists", &[&one, &two]);
    assert_eq!(shown(&c.call("TensorListLength", &[&both])), shown(&value("i32:3")));
    let joined = c.with("TensorListConcatV2", &[], &[two.clone(), shape.clone(), value("i64[0]:")]).unwrap();
    assert_eq!(shown(&joined[0]), shown(&value("f32[4]:1,2,3,4")));
    assert_eq!(shown(&joined[1]), shown(&value("i64[2]:2,2")));
    let words = c.error("TensorListPushBack", &[&empty, &value("f32[3]:1,2,3")]).to_string();
    assert!(words.contains("shape [3]"), "{words}");
    assert!(c.error("TensorListStack", &[&x, &shape]).to_string().contains("expected a list"));
    let full = c.call("EmptyTensorList", &[&shape, &value("i32:0")]);
    assert!(c.error("TensorListPushBack", &[&full, &x]).to_string().contains("full"));
}

#[test]
fn sequences_have_elements_inserted_and_erased() {
    let c = Caller(context());
    let (shape, any) = (value("i32[0]:"), value("i32:-1"));
    let number = |x: i32| value(&format!("f32:{x}"));
    let mut list = c.call("EmptyTensorList", &[&shape, &any]);
    // At 0, behind it, at the end by its position, before the last.
    for (x, position) in [(1, 0), (2, 1), (3, 2), (4, -1), (5, -4)] {
        list = c.call("_SequenceInsert", &[&list, &number(x), &value(&format!("i64:{position}"))]);
    }
    let stacked = |list: &Value| shown(&c.call("TensorListStack", &[list, &shape]));
    assert_eq!(stacked(&list), shown(&value("f32[5]:5,1,2,4,3")));
    let erased = c.call("_SequenceErase", &[&list, &value("i64:-2")]);
    assert_eq!(stacked(&erased), shown(&value("f32[4]:5,1,2,3")));
    let erased = c.call("_SequenceErase", &[&erased, &value("i64:0")]);
    assert_eq!(stacked(&erased), shown(&value("f32[3]:1,2,3")));
    for position in [6, -6, i64::MIN, i64::MAX] {
        let position = value(&format!("i64:{position}"));
        assert!(c.error("_SequenceInsert", &[&list, &number(0), &position]).to_string().contains("position"));
        assert!(c.error("_SequenceErase", &[&list, &position]).to_string().contains("position"));
    }
    assert!(c.error("_SequenceErase", &[&list, &value("i64:5")]).to_string().contains("position 5"));
    let empty = c.call("EmptyTensorList", &[&shape, &any]);
    assert!(c.error("_SequenceErase", &[&empty, &value("i64:0")]).to_string().contains("empty"));
    let full = c.call("EmptyTensorList", &[&shape, &value("i32:0")]);
    assert!(c.error("_SequenceInsert", &[&full, &number(0), &value("i64:0")]).to_string().contains("full"));
    assert!(
        c.error("_SequenceInsert", &[&list, &value("i32:1"), &value("i64:0")]).to_string().contains("i32")
    );
}

#[test]
fn variants_hold_variants() {
    let c = Caller(context());
    let (x, shape, scalar) = (value("f32[2]:1,2"), value("i32[1]:2"), value("i32[0]:"));
    let none = c.call("OptionalNone", &[]);
    let some = c.call("OptionalFromValue", &[&x, &none]);
    assert_eq!(shown(&c.call("OptionalHasValue", &[&none])), shown(&value("i1:false")));
    assert_eq!(shown(&c.call("OptionalHasValue", &[&some])), shown(&value("i1:true")));
    assert_eq!(shown(&c.call("OptionalGetValue", &[&some])), shown(&x));
    assert!(c.error("OptionalGetValue", &[&none]).to_string().contains("no value"));
    assert!(c.error("OptionalGetValue", &[&x]).to_string().contains("expected an optional"));

    let variants = [("element_dtype", "variant")];
    let with = |op: &str, operands: &[&Value]| {
        let operands: Vec<Value> = operands.iter().map(|&value| value.clone()).collect();
        c.with(op, &variants, &operands)
    };
    let empty = with("TensorListReserve", &[&scalar, &value("i32:1")]).unwrap().remove(0);
    assert!(with("TensorListGetItem", &[&empty, &value("i32:0"), &scalar]).is_err());
    let list = with("TensorListPushBack", &[&empty, &some]).unwrap().remove(0);
    let list = with("TensorListSetItem", &[&list, &value("i32:0"), &none]).unwrap().remove(0);
    assert_eq!(shown(&c.call("TensorListLength", &[&list])), shown(&value("i32:2")));
    let popped = with("TensorListPopBack", &[&list, &scalar]).unwrap();
    assert_eq!(shown(&c.call("OptionalGetValue", &[&popped[1]])), shown(&x));
    assert!(c.error("TensorListStack", &[&list, &shape]).to_string().contains("variant"));

    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let sum = optionals::add_n(&[list.clone(), list.clone(), list.clone()], &allocator).unwrap();
    let last = with("TensorListPopBack", &[&sum, &scalar]).unwrap().remove(1);
    assert_eq!(shown(&c.call("OptionalGetValue", &[&last])), shown(&value("f32[2]:3,6")));
    let zeros = optionals::zeros_like(std::slice::from_ref(&list), &allocator).unwrap();
    let last = with("TensorListPopBack", &[&zeros, &scalar]).unwrap().remove(1);
    assert_eq!(shown(&c.call("OptionalGetValue", &[&last])), shown(&value("f32[2]:0,0")));
    assert!(optionals::add_n(&[list, none.clone()], &allocator).is_err());
    assert!(optionals::add_n(&[some, none.clone()], &allocator).is_err());

    let mut deep = none;
    let error = (0..100).find_map(|_| match c.with("OptionalFromValue", &[], &[deep.clone()]) {
        Ok(mut made) => {
            deep = made.remove(0);
            None
        }
        Err(error) => Some(error.to_string()),
    });
    assert!(error.is_some_and(|error| error.contains("deep")));
}

#[test]
fn variables_outlive_what_made_them() {
    let c = Caller(context());
    let named = [("shared_name", "w")];
    let handle = c.with("VarHandleOp", &named, &[]).unwrap().remove(0);
    let error = c.error("ReadVariableOp", &[&handle]);
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    assert!(error.to_string().contains("'w'"));
    assert_eq!(shown(&c.call("VarIsInitializedOp", &[&handle])), shown(&value("i1:false")));
    c.call("AssignVariableOp", &[&handle, &value("f32[2]:1,2")]);
    let before = c.call("ReadVariableOp", &[&handle]);
    c.call("AssignAddVariableOp", &[&handle, &value("f32[2]:10,20")]);
    let again = c.with("VarHandleOp", &named, &[]).unwrap().remove(0);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&again])), shown(&value("f32[2]:11,22")));
    assert_eq!(shown(&before), shown(&value("f32[2]:1,2")));
    let other = c.with("VarHandleOp", &[("shared_name", "v")], &[]).unwrap().remove(0);
    assert!(c.with("ReadVariableOp", &[], std::slice::from_ref(&other)).is_err());
    assert!(c.with("VarHandleOp", &[("shared_name", "w"), ("dtype", "i32")], &[]).is_err());
    let wrong = c.error("AssignVariableOp", &[&handle, &value("i32[2]:1,2")]).to_string();
    assert!(wrong.contains("a tensor of i32, expected f32"));
    c.call("ResourceScatterUpdate", &[&handle, &value("i32[1]:1"), &value("f32[1]:5")]);
    c.call("ResourceScatterMul", &[&handle, &value("i32[2]:0,0"), &value("f32:2")]);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&handle])), shown(&value("f32[2]:44,5")));
    assert_eq!(
        shown(&c.call("ResourceGather", &[&handle, &value("i32[2]:1,0")])),
        shown(&value("f32[2]:5,44"))
    );
    let slice = [value("i32[1]:0"), value("i32[1]:1"), value("i32[1]:1"), value("f32[1]:7")];
    let slice: Vec<&Value> = std::iter::once(&handle).chain(&slice).collect();
    c.call("ResourceStridedSliceAssign", &slice);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&handle])), shown(&value("f32[2]:7,5")));
}

#[test]
fn a_destroyed_variable_leaves_its_name() {
    let c = Caller(context());
    let resources = &c.0.request.resources;
    let named = |dtype| c.with("VarHandleOp", &[("shared_name", "w"), ("dtype", dtype)], &[]);
    let handle = named("f32").unwrap().remove(0);
    let strict = [("ignore_lookup_error", "false")];
    let error = c.with("DestroyResourceOp", &strict, std::slice::from_ref(&handle)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    c.call("AssignVariableOp", &[&handle, &value("f32[2]:1,2")]);
    assert_eq!(resources.list(), [("variable", "w".into())]);
    c.with("DestroyResourceOp", &strict, std::slice::from_ref(&handle)).unwrap();
    assert_eq!(resources.list(), []);
    assert_eq!(shown(&c.call("VarIsInitializedOp", &[&handle])), shown(&value("i1:false")));
    assert_eq!(c.error("ReadVariableOp", &[&handle]).code(), ErrorCode::FailedPrecondition);
    assert_eq!(
        c.error("AssignAddVariableOp", &[&handle, &value("f32[2]:1,2")]).code(),
        ErrorCode::FailedPrecondition
    );
    c.call("DestroyResourceOp", &[&handle]);
    // Assignment restores it, for other handles too.
    c.call("AssignVariableOp", &[&handle, &value("f32[2]:3,4")]);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&named("f32").unwrap()[0]])), shown(&value("f32[2]:3,4")));
    assert!(named("i32").unwrap_err().to_string().contains("of type f32"));
    // Assignment fails if another variable has its name.
    c.call("DestroyResourceOp", &[&handle]);
    let other = named("i32").unwrap().remove(0);
    let error = c.error("AssignVariableOp", &[&handle, &value("f32[2]:5,6")]);
    assert!(error.to_string().contains("another has its name"), "{error}");
    c.with("AssignVariableOp", &[("dtype", "i32")], &[other.clone(), value("i32[2]:5,6")]).unwrap();
    c.call("DestroyResourceOp", &[&handle]);
    assert_eq!(variable_values(resources).unwrap().len(), 1, "the other one stays");
    // A variable without a name is not listed.
    let own = c.with("VarHandleOp", &[], &[]).unwrap().remove(0);
    c.call("AssignVariableOp", &[&own, &value("f32[2]:1,2")]);
    assert_eq!(resources.list().len(), 1);
    assert!(c.with("DisableCopyOnRead", &[], std::slice::from_ref(&own)).unwrap().is_empty());
    c.call("DestroyResourceOp", &[&own]);
    assert!(c.error("ReadVariableOp", &[&own]).to_string().contains("'VarHandleOp'"));
}

#[test]
fn references_are_given_on() {
    let c = Caller(context());
    let variable = c.with("VariableV2", &[("shared_name", "r")], &[]).unwrap().remove(0);
    let given = c.call("Assign", &[&variable, &value("f32[2]:1,2")]);
    let given = c.call("ScatterAdd", &[&given, &value("i32[2]:0,0"), &value("f32[2]:1,1")]);
    c.call("AssignSub", &[&given, &value("f32[2]:0,1")]);
    assert_eq!(shown_ref(&c, &variable), shown(&value("f32[2]:3,1")));
    assert!(c.error("Assign", &[&variable, &value("f32[3]:1,2,3")]).to_string().contains("shape [3]"));
    let loose = [variable.clone(), value("f32[3]:1,2,3")];
    c.with("Assign", &[("validate_shape", "false")], &loose).unwrap();
    assert_eq!(shown_ref(&c, &variable), shown(&value("f32[3]:1,2,3")));
}

/// The printed value behind a reference.
fn shown_ref(c: &Caller, reference: &Value) -> String {
    shown(&c.call("ReadVariableOp", &[reference]))
}

#[test]
fn steps_of_training_change_variables_and_slots() {
    let c = Caller(context());
    let slot = |name: &'static str, text: &str| {
        let handle = c.with("VarHandleOp", &[("shared_name", name)], &[]).unwrap().remove(0);
        c.call("AssignVariableOp", &[&handle, &value(text)]);
        handle
    };
    let (var, accum) = (slot("var", "f32[2]:1,2"), slot("accum", "f32[2]:0,1"));
    let grad = value("f32[2]:1,1");
    c.call("ResourceApplyGradientDescent", &[&var, &value("f32:0.5"), &grad]);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&var])), shown(&value("f32[2]:0.5,1.5")));
    c.call("ResourceApplyMomentum", &[&var, &accum, &value("f32:0.5"), &grad, &value("f32:1")]);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&accum])), shown(&value("f32[2]:1,2")));
    assert_eq!(shown(&c.call("ReadVariableOp", &[&var])), shown(&value("f32[2]:0,0.5")));
    let rate = value("f32:0.5");
    let same = c.error("ResourceApplyMomentum", &[&var, &var, &rate, &grad, &rate]);
    assert!(same.to_string().contains("twice"), "{same}");
    let wrong = c.error("ResourceApplyMomentum", &[&var, &accum, &rate, &value("f32[3]:1,1,1"), &rate]);
    assert!(wrong.to_string().contains("shape [3]"), "{wrong}");
    assert!(c.error("ResourceApplyGradientDescent", &[&var, &rate]).to_string().contains("2 values"));
    let unset = c.with("VarHandleOp", &[("shared_name", "unset")], &[]).unwrap().remove(0);
    let error = c.error("ResourceApplyGradientDescent", &[&unset, &rate, &grad]);
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
}

/// A variable with this name and a value in a buffer of its own.
fn variable_of(c: &Caller, name: &'static str, n: usize, x: f32) -> Value {
    let shape = Shape::new(&[n]).unwrap();
    let x = HostTensor::from_slice(shape, &vec![x; n], &Malloc::shared()).unwrap();
    let handle = c.with("VarHandleOp", &[("shared_name", name)], &[]).unwrap().remove(0);
    let attrs = [("validate_shape", "false")];
    c.with("AssignVariableOp", &attrs, &[handle.clone(), tensor(x)]).unwrap();
    handle
}

/// All updates of variables without concurrent readers, with no memory for a copy.
#[test]
fn updates_write_in_place() {
    const N: usize = 1000;
    let mut request = Request::new(SingleThreaded::new());
    request.allocator = Arc::new(Limited::new(Malloc::shared(), N));
    let c = Caller(ExecContext::new(Arc::new(request)));
    let state = ["a", "b", "c", "d"].map(|name| variable_of(&c, name, N, 0.5));
    let [a, b, third, d] = &state;
    let address = |handle: &Value| {
        let values = variable_values(&c.0.request.resources).unwrap();
        let name = ResourceName::from(handle.to_string().split('\'').nth(1).unwrap());
        values.iter().find(|(of, _)| *of == name).unwrap().1.buffer().unwrap().address()
    };
    let before = state.each_ref().map(address);
    let (rate, half) = (value("f32:0.25"), [0.5f32; N]);
    let grad = tensor(HostTensor::from_slice(Shape::new(&[N]).unwrap(), &half, &Malloc::shared()).unwrap());
    let steps: [(&str, &[&Value]); 12] = [
        ("AssignAddVariableOp", &[a, &grad]),
        ("AssignSubVariableOp", &[a, &grad]),
        ("ResourceScatterUpdate", &[a, &value("i32[2]:1,2"), &value("f32[2]:5,6")]),
        ("ResourceScatterNdAdd", &[a, &value("i32[1x1]:3"), &value("f32[1]:7")]),
        ("ResourceApplyGradientDescent", &[a, &rate, &grad]),
        ("ResourceApplyMomentum", &[a, b, &rate, &grad, &rate]),
        ("ResourceApplyKerasMomentum", &[a, b, &rate, &grad, &rate]),
        ("ResourceApplyAdagrad", &[a, b, &rate, &grad]),
        ("ResourceApplyAdagradV2", &[a, b, &rate, &rate, &grad]),
        ("ResourceApplyAdam", &[a, b, third, &rate, &rate, &rate, &rate, &rate, &rate, &grad]),
        ("ResourceApplyRMSProp", &[a, b, third, &rate, &rate, &rate, &rate, &grad]),
        ("ResourceApplyCenteredRMSProp", &[a, b, third, d, &rate, &rate, &rate, &rate, &grad]),
    ];
    for (op, operands) in steps {
        let read = shown(&c.call("ReadVariableOp", &[a]));
        c.call(op, operands);
        assert_eq!(state.each_ref().map(address), before, "{op}");
        assert_ne!(shown(&c.call("ReadVariableOp", &[a])), read, "{op}");
        // A reader makes a copy necessary, which fails; then no variable has changed.
        let values = || variable_values(&c.0.request.resources).unwrap();
        let kept = values();
        let text = |of: &[(ResourceName, HostTensor)]| {
            of.iter().map(|(_, x)| print::tensor(x).unwrap()).collect::<Vec<_>>()
        };
        let read = text(&kept);
        assert_eq!(c.error(op, operands).code(), ErrorCode::ResourceExhausted, "{op}");
        assert_eq!(text(&values()), read, "{op}");
        assert_eq!(text(&kept), read, "{op}");
    }
}

#[test]
fn a_reader_keeps_what_it_read() {
    let c = Caller(context());
    let (a, b) = (variable_of(&c, "a", 2, 1.0), variable_of(&c, "b", 2, 2.0));
    let kept = variable_values(&c.0.request.resources).unwrap();
    let read = c.call("ReadVariableOp", &[&a]);
    c.call("ResourceApplyMomentum", &[&a, &b, &value("f32:1"), &read, &value("f32:0")]);
    // Assignment of a variable to another shares the bytes until one of them is updated.
    let copy = c.call("ReadVariableOp", &[&a]);
    c.call("AssignVariableOp", &[&b, &copy]);
    drop(copy);
    c.call("AssignAddVariableOp", &[&b, &value("f32[2]:5,5")]);
    assert_eq!(shown(&read), shown(&value("f32[2]:1,1")));
    assert_eq!(shown(&c.call("ReadVariableOp", &[&a])), shown(&value("f32[2]:0,0")));
    assert_eq!(shown(&c.call("ReadVariableOp", &[&b])), shown(&value("f32[2]:5,5")));
    let kept = kept.into_iter().map(|(name, x)| (name.to_string(), shown(&tensor(x))));
    let want = [("a", "f32[2]:1,1"), ("b", "f32[2]:2,2")];
    assert!(kept.eq(want.map(|(name, text)| (name.to_owned(), shown(&value(text))))));
}

#[test]
fn a_panic_in_an_update_is_an_error_until_the_next_assignment() {
    let c = Caller(context());
    let (a, b) = (variable_of(&c, "a", 2, 1.0), variable_of(&c, "b", 2, 2.0));
    let panicking = || {
        let both = [variables::variable(&a).unwrap(), variables::variable(&b).unwrap()];
        variables::update(&both, |_| panic!("on purpose"))
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    for (op, operands) in
        [("ReadVariableOp", vec![&a]), ("AssignAddVariableOp", vec![&b, &value("f32[2]:1,1")])]
    {
        let error = c.error(op, &operands);
        assert!(error.to_string().contains("half updated"), "{error}");
    }
    assert!(variable_values(&c.0.request.resources).is_err());
    c.call("AssignVariableOp", &[&a, &value("f32[2]:3,3")]);
    assert_eq!(shown(&c.call("ReadVariableOp", &[&a])), shown(&value("f32[2]:3,3")));
    c.call("DestroyResourceOp", &[&b]);
    assert_eq!(variable_values(&c.0.request.resources).unwrap().len(), 1);
}

/// Threads update two variables in both orders while others read both: no update is lost or partially
/// visible.
#[test]
fn updates_and_snapshots_by_many_threads() {
    const STEPS: usize = 200;
    let c = Caller(context());
    let (a, b) = (variable_of(&c, "a", 16, 0.0), variable_of(&c, "b", 16, 0.0));
    let one = HostTensor::from_slice(Shape::new(&[16]).unwrap(), &[1f32; 16], &Malloc::shared()).unwrap();
    let step = |first: &Value, second: &Value| {
        let both = [variables::variable(first).unwrap(), variables::variable(second).unwrap()];
        variables::update(&both, |both| {
            both.iter_mut().try_for_each(|x| accumulate(Binary::Add, x, &one, &Malloc::shared()))
        })
    };
    let numbers = |x: &HostTensor| x.read::<f32>().unwrap().to_vec();
    std::thread::scope(|scope| {
        let updates = [(&a, &b), (&b, &a)].map(|(first, second)| {
            scope.spawn(move || (0..STEPS).for_each(|_| step(first, second).unwrap()))
        });
        while !updates.iter().all(|thread| thread.is_finished()) {
            let seen = variable_values(&c.0.request.resources).unwrap();
            let (a, b) = (numbers(&seen[0].1), numbers(&seen[1].1));
            assert!(a == b && a.iter().all(|x| *x == a[0]));
        }
    });
    let seen = variable_values(&c.0.request.resources).unwrap();
    assert!(seen.iter().all(|(_, x)| numbers(x) == [2.0 * STEPS as f32; 16]));
}

#[test]
fn stacks_and_arrays_have_state() {
    let c = Caller(context());
    let stack = c.call("StackV2", &[&value("i32:2")]);
    for text in ["f32:1", "f32:2"] {
        c.call("StackPushV2", &[&stack, &value(text)]);
    }
    assert!(c.error("StackPushV2", &[&stack, &value("f32:3")]).to_string().contains("full"));
    assert_eq!(shown(&c.call("StackPopV2", &[&stack])), shown(&value("f32:2")));
    c.call("StackPopV2", &[&stack]);
    assert!(c.error("StackPopV2", &[&stack]).to_string().contains("empty"));

    let made = c.with("TensorArrayV3", &[], &[value("i32:2")]).unwrap();
    let (array, flow) = (&made[0], &made[1]);
    let (x, zero, one) = (value("f32[2]:1,2"), value("i32:0"), value("i32:1"));
    c.call("TensorArrayWriteV3", &[array, &zero, &x, flow]);
    assert!(c.error("TensorArrayWriteV3", &[array, &zero, &x, flow]).to_string().contains("twice"));
    assert!(
        c.error("TensorArrayWriteV3", &[array, &value("i32:2"), &x, flow]).to_string().contains("index 2")
    );
    c.call("TensorArrayWriteV3", &[array, &one, &value("f32[2]:3,4"), flow]);
    let indices = value("i32[2]:1,0");
    assert_eq!(
        shown(&c.call("TensorArrayGatherV3", &[array, &indices, flow])),
        shown(&value("f32[2x2]:3,4,1,2"))
    );
    assert!(c.error("TensorArrayReadV3", &[array, &one, flow]).to_string().contains("cleared"));
    assert_eq!(shown(&c.call("TensorArraySizeV3", &[array, flow])), shown(&value("i32:2")));
    let gradients = c.call("TensorArrayGradV3", &[array, flow]);
    for _ in 0..2 {
        c.call("TensorArrayWriteV3", &[&gradients, &zero, &x, flow]);
    }
    let same = c.call("TensorArrayGradV3", &[array, flow]);
    assert_eq!(shown(&c.call("TensorArrayReadV3", &[&same, &zero, flow])), shown(&value("f32[2]:2,4")));
    assert_eq!(shown(&c.call("TensorArrayReadV3", &[&same, &one, flow])), shown(&value("f32[2]:0,0")));
}

#[test]
fn assertions_fail_with_their_data() {
    let c = Caller(context());
    assert!(c.with("Assert", &[], &[value("i1:true"), value("f32:1")]).unwrap().is_empty());
    let error = c.error("Assert", &[&value("i1:false"), &value("f32:1")]).to_string();
    assert!(error.contains("assertion failed") && error.contains("1.0"), "{error}");
}

#[test]
fn wrong_operands_are_errors_of_every_operator() {
    let c = Caller(context());
    let values = [
        value("f32[2]:1,2"),
        value("i32:0"),
        c.call("StackV2", &[&value("i32:2")]),
        Value::I32(3),
        Value::Chain,
    ];
    for row in rows().filter(|row| ActionMaker::of(row.op.unwrap()).is_some()) {
        let (op, signature) = (row.name, row.signature());
        let n = signature.inputs.len();
        for value in &values {
            for n in n.saturating_sub(1)..n + 2 {
                let operands = vec![value.clone(); n];
                let given = required(signature);
                let action = ActionMaker::of(row.op.unwrap())
                    .unwrap()
                    .make(&Attributes::new(signature, &given))
                    .unwrap();
                if let Err(error) = action.call(&operands.iter().collect::<Vec<_>>(), &c.0) {
                    assert!(error.to_string().len() > 10, "{op}: {error}");
                }
            }
        }
    }
}

/// Calls `f` with a lent tensor, whose bytes are gone afterwards.
fn with_lent<R>(f: impl FnOnce(&Value) -> R) -> R {
    let mut bytes: Vec<u8> = [1f32, 2.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let made = Buffer::lend(&bytes, |buffer| {
        let shape = Shape::new(&[2]).unwrap();
        f(&tensor(HostTensor::from_buffer(DType::F32, shape, buffer.clone()).unwrap()))
    });
    bytes.fill(0xff);
    made
}

#[test]
fn kept_parts_of_lent_tensors_are_copies() {
    let c = Caller(context());
    let (shape, zero, x) = (value("i32[1]:2"), value("i32:0"), shown(&value("f32[2]:1,2")));
    let empty = c.call("EmptyTensorList", &[&shape, &value("i32:-1")]);
    let list = with_lent(|lent| c.call("TensorListPushBack", &[&empty, lent]));
    assert_eq!(shown(&c.call("TensorListGetItem", &[&list, &zero, &shape])), x);
    let reserved = c.call("TensorListReserve", &[&shape, &value("i32:2")]);
    let list = with_lent(|lent| c.call("TensorListSetItem", &[&reserved, &zero, lent]));
    assert_eq!(shown(&c.call("TensorListGetItem", &[&list, &zero, &shape])), x);
    let rows = with_lent(|lent| c.call("TensorListFromTensor", &[lent, &value("i32[0]:")]));
    assert_eq!(shown(&c.call("TensorListStack", &[&rows, &value("i32[0]:")])), x);
    let stack = c.call("StackV2", &[&value("i32:2")]);
    with_lent(|lent| c.call("StackPushV2", &[&stack, lent]));
    assert_eq!(shown(&c.call("StackPopV2", &[&stack])), x);
    let made = c.with("TensorArrayV3", &[], &[value("i32:2")]).unwrap();
    let [array, flow] = &made[..] else { panic!("TensorArrayV3: {made:?}") };
    with_lent(|lent| c.call("TensorArrayWriteV3", &[array, &zero, lent, flow]));
    assert_eq!(shown(&c.call("TensorArrayReadV3", &[array, &zero, flow])), x);
    let optional = with_lent(|lent| c.call("OptionalFromValue", &[lent]));
    assert_eq!(shown(&c.call("OptionalGetValue", &[&optional])), x);
    let variable = c.with("VarHandleOp", &[("shared_name", "v")], &[]).unwrap().remove(0);
    with_lent(|lent| c.with("AssignVariableOp", &[], &[variable.clone(), lent.clone()]).unwrap());
    assert_eq!(shown(&c.call("ReadVariableOp", &[&variable])), x);
    with_lent(|lent| c.with("AssignAddVariableOp", &[], &[variable.clone(), lent.clone()]).unwrap());
    assert_eq!(shown(&c.call("ReadVariableOp", &[&variable])), shown(&value("f32[2]:2,4")));
    let resources = &c.0.request.resources;
    with_lent(|lent| {
        let new = lent.downcast_ref::<Tensor>().unwrap().0.clone();
        assign_variable_values(resources, vec![("v".into(), new)]).unwrap();
    });
    assert_eq!(shown(&c.call("ReadVariableOp", &[&variable])), x);
    assert!(remove_variable(resources, &"v".into()) && !remove_variable(resources, &"v".into()));
}

#[test]
fn no_action_gives_out_what_is_lent() {
    let c = Caller(context());
    for row in rows().filter(|row| ActionMaker::of(row.op.unwrap()).is_some()) {
        let signature = row.signature();
        for n in 1..signature.inputs.len() + 3 {
            let given = required(signature);
            let maker = ActionMaker::of(row.op.unwrap()).unwrap();
            let action = maker.make(&Attributes::new(signature, &given)).unwrap();
            let results = with_lent(|lent| action.call(&vec![lent; n], &c.0).unwrap_or_default());
            let lent = |value: &Value| value.downcast_ref::<Tensor>().is_some_and(|x| x.0.is_lent());
            assert!(!results.iter().any(lent), "{}", row.name);
        }
    }
}

/// The updates meet TensorFlow's, see the first line of the file.
#[test]
fn updates_are_those_of_tensorflow() {
    let cases = include_str!("../../../../testdata/training/updates.txt");
    let numbers = |value: &Value| {
        let x = &value.downcast_ref::<Tensor>().unwrap().0;
        let wide = befrost_tensor::tf::reference::cast(x, DType::F64, &Malloc::shared());
        (x.dtype(), wide.unwrap().to_vec::<f64>().unwrap())
    };
    for case in cases.lines().skip(1) {
        let parts: Vec<&str> = case.split(" ; ").collect();
        let [op, attrs, before, rest, after] = parts[..] else { panic!("{case}") };
        let c = Caller(context());
        let names = ["a", "b", "c", "d"];
        let state: Vec<Value> = before
            .split(' ')
            .zip(names)
            .map(|(text, name)| {
                let dtype = text.split('[').next().unwrap();
                let with = [("shared_name", name), ("dtype", dtype)];
                let handle = c.with("VarHandleOp", &with, &[]).unwrap().remove(0);
                let given = [handle.clone(), value(text)];
                c.with("AssignVariableOp", &[("validate_shape", "false")], &given).unwrap();
                handle
            })
            .collect();
        let operands: Vec<Value> = state.iter().cloned().chain(rest.split(' ').map(value)).collect();
        let attrs: Vec<(&str, &str)> = attrs.split(',').filter_map(|attr| attr.split_once('=')).collect();
        c.with(op, &attrs, &operands).unwrap_or_else(|error| panic!("{case}: {error}"));
        for (i, (handle, want)) in state.iter().zip(after.split(' ')).enumerate() {
            let (dtype, want) = numbers(&value(want));
            let dtype_attr = [("dtype", dtype.name())];
            let (_, got) =
                numbers(&c.with("ReadVariableOp", &dtype_attr, std::slice::from_ref(handle)).unwrap()[0]);
            let tolerance = match dtype {
                DType::F64 => 1e-13,
                DType::F32 => 2e-6,
                DType::F16 => 4e-3,
                _ => 3e-2,
            };
            for (got, want) in got.iter().zip(&want) {
                assert!(
                    (got - want).abs() <= tolerance * (1.0 + want.abs()),
                    "{op} {attrs:?} {i}: {got} {want} {case}"
                );
            }
        }
    }
}
