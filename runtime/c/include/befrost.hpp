// Befrost for C++17: handles that release themselves, errors as exceptions. Header only, over befrost.h.
#ifndef BEFROST_HPP
#define BEFROST_HPP

#include <befrost.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace befrost {

class Error : public std::runtime_error {
 public:
  Error(int code, const std::string &message, std::string location, std::vector<std::string> calls = {})
      : std::runtime_error(message), code_(code), location_(std::move(location)), calls_(std::move(calls)) {}
  int code() const { return code_; }
  const std::string &location() const { return location_; }
  // The places of the callers of what failed, the innermost one first.
  const std::vector<std::string> &calls() const { return calls_; }

 private:
  int code_;
  std::string location_;
  std::vector<std::string> calls_;
};

// Throws what a function returned, unless it is null.
inline void check(bf_error *error) {
  if (error == nullptr) return;
  std::unique_ptr<bf_error, decltype(&bf_error_release)> owner(error, bf_error_release);
  std::vector<std::string> calls;
  for (std::size_t i = 0; bf_error_call(error, i) != nullptr; i++) calls.emplace_back(bf_error_call(error, i));
  throw Error(bf_error_code(error), bf_error_message(error), bf_error_location(error), std::move(calls));
}

template <class T> struct Dtype;
template <> struct Dtype<float> { static constexpr int value = BF_F32; };
template <> struct Dtype<double> { static constexpr int value = BF_F64; };
template <> struct Dtype<std::int8_t> { static constexpr int value = BF_I8; };
template <> struct Dtype<std::int16_t> { static constexpr int value = BF_I16; };
template <> struct Dtype<std::int32_t> { static constexpr int value = BF_I32; };
template <> struct Dtype<std::int64_t> { static constexpr int value = BF_I64; };
template <> struct Dtype<std::uint8_t> { static constexpr int value = BF_U8; };
template <> struct Dtype<std::uint16_t> { static constexpr int value = BF_U16; };
template <> struct Dtype<std::uint32_t> { static constexpr int value = BF_U32; };
template <> struct Dtype<std::uint64_t> { static constexpr int value = BF_U64; };
template <> struct Dtype<bool> { static constexpr int value = BF_BOOL; };

// A counted handle: copies share it.
template <class T, void (*retain)(T *), void (*release)(T *)> class Handle {
 public:
  Handle() = default;
  explicit Handle(T *raw) : raw_(raw) {}
  Handle(const Handle &other) : raw_(other.raw_) { retain(raw_); }
  Handle(Handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() { release(raw_); }
  T *get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }

 private:
  T *raw_ = nullptr;
};

class Tensor : public Handle<bf_tensor, bf_tensor_retain, bf_tensor_release> {
 public:
  using Handle::Handle;

  template <class T> static Tensor of(const std::vector<std::int64_t> &dims, const std::vector<T> &elements) {
    std::size_t count = 1;
    for (std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    if (count != elements.size()) throw Error(BF_INVALID_ARGUMENT, "the sizes do not fit the elements", "");
    bf_tensor *raw = nullptr;
    const std::int32_t rank = static_cast<std::int32_t>(dims.size());
    check(bf_tensor_create(Dtype<T>::value, rank, dims.data(), elements.data(), &raw));
    return Tensor(raw);
  }

  // Over elements that live and do not change until free_data is called with free_argument, by any thread.
  template <class T>
  static Tensor borrow(const std::vector<std::int64_t> &dims, const T *elements, void (*free_data)(void *),
                       void *free_argument) {
    bf_tensor *raw = nullptr;
    const std::int32_t rank = static_cast<std::int32_t>(dims.size());
    check(bf_tensor_borrow(Dtype<T>::value, rank, dims.data(), elements, free_data, free_argument, &raw));
    return Tensor(raw);
  }

  static Tensor of_strings(const std::vector<std::int64_t> &dims, const std::vector<std::string> &texts) {
    std::vector<const char *> data;
    std::vector<std::size_t> lengths;
    for (const std::string &text : texts) {
      data.push_back(text.data());
      lengths.push_back(text.size());
    }
    bf_tensor *raw = nullptr;
    const std::int32_t rank = static_cast<std::int32_t>(dims.size());
    check(bf_tensor_create_strings(rank, dims.data(), data.data(), lengths.data(), &raw));
    return Tensor(raw);
  }

  // Takes over another library's tensor, also after an error.
  static Tensor from_dlpack(DLManagedTensorVersioned *managed) {
    bf_tensor *raw = nullptr;
    check(bf_tensor_from_dlpack(managed, &raw));
    return Tensor(raw);
  }

  // For other libraries, over its memory, read-only; to be freed by its deleter.
  DLManagedTensorVersioned *to_dlpack() const {
    DLManagedTensorVersioned *made = nullptr;
    check(bf_tensor_to_dlpack(get(), &made));
    return made;
  }

  int dtype() const { return bf_tensor_dtype(get()); }

  std::vector<std::int64_t> shape() const {
    const std::int64_t *dims = bf_tensor_dims(get());
    const int rank = bf_tensor_rank(get());
    return rank > 0 ? std::vector<std::int64_t>(dims, dims + rank) : std::vector<std::int64_t>();
  }

  // A copy of the elements, which must be of this type.
  template <class T> std::vector<T> elements() const {
    static_assert(!std::is_same<T, bool>::value, "a vector of bool has no memory of elements: read bytes");
    if (dtype() != Dtype<T>::value) throw Error(BF_INVALID_ARGUMENT, "the tensor has another dtype", "");
    std::vector<T> made(bf_tensor_bytes(get()) / sizeof(T));
    if (!made.empty()) std::memcpy(made.data(), bf_tensor_data(get()), made.size() * sizeof(T));
    return made;
  }

  // A text, which lives as long as the tensor.
  std::string_view string(std::size_t position) const {
    const char *data = nullptr;
    std::size_t length = 0;
    check(bf_tensor_string(get(), position, &data, &length));
    return std::string_view(data, length);
  }
};

namespace detail {

inline std::vector<const char *> texts(const std::vector<std::string> &names) {
  std::vector<const char *> made;
  for (const std::string &name : names) made.push_back(name.c_str());
  return made;
}

inline std::vector<bf_tensor *> handles(const std::vector<Tensor> &tensors) {
  std::vector<bf_tensor *> made;
  for (const Tensor &tensor : tensors) made.push_back(tensor.get());
  return made;
}

// The elements of a row of texts.
inline std::vector<std::string> strings(const Tensor &row) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(row.shape().at(0)); i++) made.emplace_back(row.string(i));
  return made;
}

inline std::vector<Tensor> owned(const std::vector<bf_tensor *> &handles) {
  std::vector<Tensor> made;
  for (bf_tensor *handle : handles) made.emplace_back(handle);
  return made;
}

}  // namespace detail

// A tensor that is fed or fetched: an unknown rank is -1, an unknown size is -1.
struct Port {
  std::string name;
  int dtype = 0, rank = -1;
  std::vector<std::int64_t> shape;
};

namespace detail {

// Takes the handle over.
inline std::vector<Port> ports(bf_ports *raw) {
  std::unique_ptr<bf_ports, decltype(&bf_ports_release)> owner(raw, bf_ports_release);
  std::vector<Port> made;
  for (std::size_t i = 0; i < bf_ports_count(raw); i++) {
    Port port;
    port.name = bf_ports_name(raw, i);
    port.dtype = bf_ports_dtype(raw, i);
    port.rank = bf_ports_rank(raw, i);
    const std::int64_t *dims = bf_ports_dims(raw, i);
    if (port.rank > 0) port.shape.assign(dims, dims + port.rank);
    made.push_back(std::move(port));
  }
  return made;
}

}  // namespace detail

class Runtime : public Handle<bf_runtime, bf_runtime_retain, bf_runtime_release> {
 public:
  // functions: MLIR text of the functions that attributes of operators may name.
  explicit Runtime(const std::string &work_queue = "", const std::vector<std::string> &libraries = {},
                   const std::string &functions = "")
      : Handle(make(work_queue, libraries, functions)) {}

 private:
  static bf_runtime *make(const std::string &work_queue, const std::vector<std::string> &libraries,
                          const std::string &functions) {
    const std::vector<const char *> paths = detail::texts(libraries);
    bf_runtime_options options = {};
    options.size = sizeof options;
    options.work_queue = work_queue.empty() ? nullptr : work_queue.c_str();
    options.libraries = paths.data();
    options.n_libraries = paths.size();
    options.functions = functions.c_str();
    bf_runtime *raw = nullptr;
    check(bf_runtime_create(&options, &raw));
    return raw;
  }
};

// A kernel library, whose code runs in this process, and stays there.
class Library : public Handle<bf_loaded_library, bf_library_retain, bf_library_release> {
 public:
  explicit Library(const std::string &path) : Handle(load(path)) {}
  std::string name() const { return bf_library_name(get()); }
  std::vector<std::string> kernels() const {
    std::vector<std::string> made;
    for (std::size_t i = 0; bf_library_kernel(get(), i) != nullptr; i++) made.emplace_back(bf_library_kernel(get(), i));
    return made;
  }

 private:
  static bf_loaded_library *load(const std::string &path) {
    bf_loaded_library *raw = nullptr;
    check(bf_library_load(path.c_str(), &raw));
    return raw;
  }
};

// A BEF file in memory, which is copied.
class Program : public Handle<bf_program, bf_program_retain, bf_program_release> {
 public:
  Program(const void *bef, std::size_t n_bytes, const Runtime *runtime = nullptr)
      : Handle(load(bef, n_bytes, runtime)) {}
  std::vector<Tensor> run(const std::string &function, const std::vector<Tensor> &arguments,
                          std::size_t n_results = 1) const {
    const std::vector<bf_tensor *> handles = detail::handles(arguments);
    std::vector<bf_tensor *> made(n_results);
    check(bf_program_run(get(), function.c_str(), handles.data(), handles.size(), made.data(), made.size()));
    return detail::owned(made);
  }

 private:
  static bf_program *load(const void *bef, std::size_t n_bytes, const Runtime *runtime) {
    bf_program *raw = nullptr;
    check(bf_program_load(runtime == nullptr ? nullptr : runtime->get(), bef, n_bytes, &raw));
    return raw;
  }
};

// A model's function: BEF, ONNX, a TensorFlow graph or SavedModel, MLIR text.
class Model : public Handle<bf_model, bf_model_retain, bf_model_release> {
 public:
  explicit Model(const std::string &path, const Runtime *runtime = nullptr, const std::string &signature = "")
      : Handle(load(path, runtime, signature)) {}
  using Handle::Handle;

  // The contents of a file that names no others.
  static Model of_bytes(const void *bytes, std::size_t n_bytes, const Runtime *runtime = nullptr) {
    bf_model *raw = nullptr;
    check(bf_model_load_bytes(runtime == nullptr ? nullptr : runtime->get(), bytes, n_bytes, nullptr, &raw));
    return Model(raw);
  }

  // BF_INPUTS or BF_OUTPUTS.
  std::vector<Port> ports(int which) const {
    bf_ports *raw = nullptr;
    check(bf_model_ports(get(), which, &raw));
    return detail::ports(raw);
  }

  std::vector<Tensor> operator()(const std::vector<Tensor> &inputs) const {
    const std::vector<bf_tensor *> handles = detail::handles(inputs);
    std::vector<bf_tensor *> made(bf_model_n_outputs(get()));
    check(bf_model_run(get(), handles.data(), handles.size(), made.data(), made.size()));
    return detail::owned(made);
  }

 private:
  static bf_model *load(const std::string &path, const Runtime *runtime, const std::string &signature) {
    bf_model *raw = nullptr;
    check(bf_model_load(runtime == nullptr ? nullptr : runtime->get(), path.c_str(),
                        signature.empty() ? nullptr : signature.c_str(), &raw));
    return raw;
  }
};

// A run that goes on. The last copy that goes cancels it.
class Run : public Handle<bf_run, bf_run_retain, bf_run_release> {
 public:
  Run(bf_run *raw, std::size_t n_fetches) : Handle(raw), n_fetches_(n_fetches) {}
  bool is_done() const { return bf_run_is_done(get()) != 0; }
  void cancel() const { bf_run_cancel(get()); }
  std::vector<Tensor> wait() const {
    std::vector<bf_tensor *> made(n_fetches_);
    check(bf_run_wait(get(), made.data(), made.size()));
    return detail::owned(made);
  }

 private:
  std::size_t n_fetches_;
};

// A fixed set of names: nothing is looked up in a call.
class Callable : public Handle<bf_callable, bf_callable_retain, bf_callable_release> {
 public:
  Callable(bf_callable *raw, std::size_t n_fetches) : Handle(raw), n_fetches_(n_fetches) {}
  std::vector<Tensor> operator()(const std::vector<Tensor> &feeds) const {
    const std::vector<bf_tensor *> handles = detail::handles(feeds);
    std::vector<bf_tensor *> made(n_fetches_);
    check(bf_callable_call(get(), handles.data(), handles.size(), made.data(), made.size()));
    return detail::owned(made);
  }

  // Writes the fetches into tensors of their types and sizes.
  void call_into(const std::vector<Tensor> &feeds, const std::vector<Tensor> &into) const {
    const std::vector<bf_tensor *> handles = detail::handles(feeds), places = detail::handles(into);
    check(bf_callable_call_into(get(), handles.data(), handles.size(), places.data(), places.size()));
  }

 private:
  std::size_t n_fetches_;
};

using Snapshot = Handle<bf_snapshot, bf_snapshot_retain, bf_snapshot_release>;

using Feeds = std::vector<std::pair<std::string, Tensor>>;

class Session : public Handle<bf_session, bf_session_retain, bf_session_release> {
 public:
  explicit Session(const std::string &path, const Runtime *runtime = nullptr, const std::string &init = "",
                   int level = 2, const std::string &signature = "")
      : Handle(open(path, runtime, init, level, signature)) {}

  using Handle::Handle;

  // The contents of a file that names no others.
  static Session of_bytes(const void *bytes, std::size_t n_bytes, const Runtime *runtime = nullptr) {
    bf_session *raw = nullptr;
    check(bf_session_open_bytes(runtime == nullptr ? nullptr : runtime->get(), bytes, n_bytes, nullptr, &raw));
    return Session(raw);
  }

  // BF_INPUTS, BF_OUTPUTS or BF_TENSORS.
  std::vector<Port> ports(int which) const {
    bf_ports *raw = nullptr;
    check(bf_session_ports(get(), which, &raw));
    return detail::ports(raw);
  }

  bf_stats stats() const {
    bf_stats made = {};
    made.size = sizeof made;
    check(bf_session_stats(get(), &made));
    return made;
  }

  // The names of a model's signatures, or of a program's functions.
  std::vector<std::string> signatures() const {
    bf_tensor *raw = nullptr;
    check(bf_session_signatures(get(), &raw));
    return detail::strings(Tensor(raw));
  }

  // Compiles what a run of these names needs.
  void warm(const std::vector<std::string> &feeds, const std::vector<std::string> &fetches,
            const std::vector<std::string> &targets = {}) const {
    const std::vector<const char *> fed = detail::texts(feeds), fetched = detail::texts(fetches),
                                    run = detail::texts(targets);
    check(bf_session_warm(get(), fed.data(), fed.size(), fetched.data(), fetched.size(), run.data(), run.size()));
  }

  // With a timeout in seconds, the run is given up after it.
  std::vector<Tensor> run(const Feeds &feeds, const std::vector<std::string> &fetches,
                          const std::vector<std::string> &targets = {}, double timeout_seconds = 0) const {
    Names names(feeds, fetches, targets);
    names.options.timeout_seconds = timeout_seconds;
    std::vector<bf_tensor *> made(fetches.size());
    check(bf_session_run(get(), &names.options, names.feeds.data(), names.values.data(), names.values.size(),
                         names.fetches.data(), made.data(), made.size()));
    return detail::owned(made);
  }

  Run start(const Feeds &feeds, const std::vector<std::string> &fetches) const {
    const Names names(feeds, fetches, {});
    bf_run *raw = nullptr;
    check(bf_session_start(get(), &names.options, names.feeds.data(), names.values.data(), names.values.size(),
                           names.fetches.data(), names.fetches.size(), &raw));
    return Run(raw, fetches.size());
  }

  Callable callable(const std::vector<std::string> &feeds, const std::vector<std::string> &fetches) const {
    const std::vector<const char *> fed = detail::texts(feeds), fetched = detail::texts(fetches);
    bf_callable *raw = nullptr;
    check(bf_session_callable(get(), fed.data(), fed.size(), fetched.data(), fetched.size(), &raw));
    return Callable(raw, fetches.size());
  }

  // Writes the function from its inputs to its outputs, or of a graph from these tensors to those, as a BEF file
  // with the present values of the variables.
  void save(const std::string &path, const std::vector<std::string> &feeds = {},
            const std::vector<std::string> &fetches = {}) const {
    const std::vector<const char *> fed = detail::texts(feeds), fetched = detail::texts(fetches);
    check(bf_session_save(get(), path.c_str(), fed.data(), fed.size(), fetched.data(), fetched.size()));
  }

  // The names of the variables that have values.
  std::vector<std::string> variables() const {
    bf_tensor *raw = nullptr;
    check(bf_variables_names(get(), &raw));
    return detail::strings(Tensor(raw));
  }

  Tensor variable(const std::string &name) const {
    bf_tensor *raw = nullptr;
    check(bf_variables_get(get(), name.c_str(), &raw));
    return Tensor(raw);
  }

  void set_variable(const std::string &name, const Tensor &value) const {
    check(bf_variables_set(get(), name.c_str(), value.get()));
  }

  // The values of all variables, and the way back to them.
  Snapshot snapshot() const {
    bf_snapshot *raw = nullptr;
    check(bf_variables_snapshot(get(), &raw));
    return Snapshot(raw);
  }
  void restore(const Snapshot &snapshot) const { check(bf_variables_restore(get(), snapshot.get())); }

 private:
  struct Names {
    std::vector<const char *> feeds, fetches, targets;
    std::vector<bf_tensor *> values;
    bf_run_options options = {};
    Names(const Feeds &fed, const std::vector<std::string> &fetched, const std::vector<std::string> &run)
        : fetches(detail::texts(fetched)), targets(detail::texts(run)) {
      for (const auto &[name, value] : fed) {
        feeds.push_back(name.c_str());
        values.push_back(value.get());
      }
      options.size = sizeof options;
      options.targets = targets.data();
      options.n_targets = targets.size();
    }
    Names(const Names &) = delete;
    Names &operator=(const Names &) = delete;
  };

  static bf_session *open(const std::string &path, const Runtime *runtime, const std::string &init, int level,
                          const std::string &signature) {
    bf_session_options options = {};
    options.size = sizeof options;
    options.level = level;
    options.init = init.empty() ? nullptr : init.c_str();
    options.signature = signature.empty() ? nullptr : signature.c_str();
    bf_session *raw = nullptr;
    check(bf_session_open(runtime == nullptr ? nullptr : runtime->get(), path.c_str(), &options, &raw));
    return raw;
  }
};

// A result of an operator that may not be there yet.
class Future : public Handle<bf_future, bf_future_retain, bf_future_release> {
 public:
  using Handle::Handle;
  bool is_done() const { return bf_future_is_done(get()) != 0; }
  Tensor wait() const {
    bf_tensor *raw = nullptr;
    check(bf_future_wait(get(), &raw));
    return Tensor(raw);
  }
};

// An operator with attributes.
class Op : public Handle<bf_op, bf_op_retain, bf_op_release> {
 public:
  explicit Op(const std::string &name, const Runtime *runtime = nullptr) : Handle(make(name, runtime)) {}

  Op &set(const std::string &name, std::int64_t value) { return set_with(bf_op_set_int(get(), name.c_str(), value)); }
  Op &set(const std::string &name, float value) { return set_with(bf_op_set_float(get(), name.c_str(), value)); }
  Op &set(const std::string &name, bool value) { return set_with(bf_op_set_bool(get(), name.c_str(), value)); }
  Op &set(const std::string &name, int value) { return set(name, std::int64_t{value}); }
  Op &set(const std::string &name, double value) { return set(name, static_cast<float>(value)); }
  Op &set(const std::string &name, const std::string &value) { return set(name, value.c_str()); }
  Op &set(const std::string &name, const char *value) { return set_with(bf_op_set_string(get(), name.c_str(), value)); }
  Op &set(const std::string &name, const std::vector<std::int64_t> &values) {
    return set_with(bf_op_set_ints(get(), name.c_str(), values.data(), values.size()));
  }

  Op &set(const std::string &name, const std::vector<float> &values) {
    return set_with(bf_op_set_floats(get(), name.c_str(), values.data(), values.size()));
  }
  Op &set(const std::string &name, const std::vector<std::string> &values) {
    const std::vector<const char *> texts = detail::texts(values);
    return set_with(bf_op_set_strings(get(), name.c_str(), texts.data(), texts.size()));
  }

  // An attribute that is an element type: BF_I64.
  Op &set_dtype(const std::string &name, int value) {
    return set_with(bf_op_set_dtype(get(), name.c_str(), value));
  }

  Op &set(const std::string &name, const Tensor &value) {
    return set_with(bf_op_set_tensor(get(), name.c_str(), value.get()));
  }
  Op &set_shape(const std::string &name, const std::vector<std::int64_t> &dims) {
    const std::int32_t rank = static_cast<std::int32_t>(dims.size());
    return set_with(bf_op_set_shape(get(), name.c_str(), rank, dims.data()));
  }
  Op &set_function(const std::string &name, const std::string &function) {
    return set_with(bf_op_set_function(get(), name.c_str(), function.c_str()));
  }
  Op &set_dtypes(const std::string &name, const std::vector<std::int32_t> &values) {
    return set_with(bf_op_set_dtypes(get(), name.c_str(), values.data(), values.size()));
  }

  std::vector<Future> start(const std::vector<Tensor> &operands, std::size_t n_results = 1) const {
    const std::vector<bf_tensor *> handles = detail::handles(operands);
    std::vector<bf_future *> made(n_results);
    check(bf_op_start(get(), handles.data(), handles.size(), made.data(), made.size()));
    return std::vector<Future>(made.begin(), made.end());
  }

  std::vector<Tensor> operator()(const std::vector<Tensor> &operands, std::size_t n_results = 1) const {
    const std::vector<bf_tensor *> handles = detail::handles(operands);
    std::vector<bf_tensor *> made(n_results);
    check(bf_op_execute(get(), handles.data(), handles.size(), made.data(), made.size()));
    return detail::owned(made);
  }

 private:
  static bf_op *make(const std::string &name, const Runtime *runtime) {
    bf_op *raw = nullptr;
    check(bf_op_create(runtime == nullptr ? nullptr : runtime->get(), name.c_str(), &raw));
    return raw;
  }
  Op &set_with(bf_error *error) {
    check(error);
    return *this;
  }
};

}  // namespace befrost

#endif
