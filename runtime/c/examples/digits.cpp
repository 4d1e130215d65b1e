// Digits in C++17, with runs that go on meanwhile, operators one by one and strings,
// and a session as a file: digits DIGITS_CNN.pb SAVED.bef
#include <befrost.hpp>

#include <fstream>
#include <iostream>
#include <iterator>

using befrost::Op;
using befrost::Tensor;

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  try {
    const befrost::Runtime runtime("mstd:2");
    const befrost::Session session(argv[1], &runtime);
    const Tensor images = Tensor::of<float>({3, 64}, std::vector<float>(192, 0.5f));
    const befrost::Feeds feeds = {{"images", images}};
    const Tensor logits = session.run(feeds, {"logits"}).at(0);
    std::vector<befrost::Run> runs;
    for (int i = 0; i < 8; i++) runs.push_back(session.start(feeds, {"logits"}));
    const std::vector<float> want = logits.elements<float>();
    for (const befrost::Run &run : runs) {
      const std::vector<float> got = run.wait().at(0).elements<float>();
      if (got != want) return 3;
    }
    session.save(argv[2]);
    const befrost::Model saved(argv[2], &runtime);
    if (saved({images}).at(0).elements<float>() != want || !session.variables().empty()) return 5;
    const befrost::Callable callable = session.callable({"images"}, {"logits"});
    if (befrost::Callable(callable)({images}).at(0).elements<float>() != want) return 6;
    const Tensor into = Tensor::of<float>(logits.shape(), std::vector<float>(want.size()));
    callable.call_into({images}, {into});
    if (into.elements<float>() != want || session.stats().compilations == 0) return 7;
    const std::vector<befrost::Port> inputs = session.ports(BF_INPUTS);
    if (inputs.size() != 1 || inputs[0].name != "images" || inputs[0].shape != std::vector<std::int64_t>{-1, 64}) return 8;
    std::ifstream file(argv[2], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const befrost::Model in_memory = befrost::Model::of_bytes(bytes.data(), bytes.size());
    if (in_memory({images}).at(0).elements<float>() != want || in_memory.ports(BF_OUTPUTS).size() != 1) return 9;
    if (befrost::Session::of_bytes(bytes.data(), bytes.size()).ports(BF_INPUTS).size() != 1) return 10;
    session.restore(session.snapshot());
    session.warm({"images"}, {"logits"});
    if (!session.signatures().empty() || session.run(feeds, {"logits"}, {}, 60).size() != 1) return 12;
    const befrost::Program program(bytes.data(), bytes.size());
    int freed = 0;
    const auto free_data = [](void *count) { ++*static_cast<int *>(count); };
    const std::vector<float> pixels(192, 0.5f);
    if (program.run("main", {Tensor::borrow({3, 64}, pixels.data(), free_data, &freed)}).at(0).elements<float>() != want) return 13;
    if (freed != 1) return 14;
    const Tensor v = Op("VarHandleOp").set_dtype("dtype", BF_F32).set_shape("shape", {}).set("shared_name", "v")({}).at(0);
    Op("AssignVariableOp")({v, Tensor::of<float>({}, {2.5f})}, 0);
    const befrost::Future value = Op("ReadVariableOp").set_dtype("dtype", BF_F32).start({v}).at(0);
    if (value.wait().elements<float>().at(0) != 2.5f || !value.is_done() || v.dtype() != BF_RESOURCE) return 11;
    const Tensor axis = Tensor::of<std::int32_t>({}, {1});
    const Tensor best = Op("ArgMax").set_dtype("output_type", BF_I64)({logits, axis}).at(0);
    std::cout << "digit " << best.elements<std::int64_t>().at(0) << "\n";
  } catch (const befrost::Error &error) {
    std::cerr << error.code() << ": " << error.what() << "\n";
    return 1;
  }
  try {
    Op("Nobody")({});
    return 4;
  } catch (const befrost::Error &error) {
    std::cout << error.what() << "\n";
  }
  try {
    befrost::Library("nowhere.so");
    return 15;
  } catch (const befrost::Error &error) {
    if (error.code() != BF_NOT_FOUND || !error.calls().empty()) return 16;
  }
  const Tensor row = Tensor::of<float>({1, 2}, {1, 2});
  if (Op("Squeeze").set("squeeze_dims", std::vector<std::int64_t>{0})({row}).at(0).shape().size() != 1) return 17;
  if (Op("Split").set("num_split", 1)({Tensor::of<std::int32_t>({}, {0}), row}).at(0).shape() != row.shape()) return 18;
  const Tensor sizes = Tensor::of<std::int64_t>({2}, {2, 3});
  const Tensor total = Op("Prod").set("keep_dims", false)({sizes, Tensor::of<std::int32_t>({1}, {0})}).at(0);
  const Tensor texts = Tensor::of_strings({2}, {"six", std::string("a\0b", 3)});
  std::cout << total.elements<std::int64_t>().at(0) << " " << texts.string(0) << " " << texts.string(1).size() << "\n";
}
