// cotan-gpt as people run it: training that goes on after a kill, text from a model, files that cannot be used.
#include <csignal>
#include <thread>

#include "program.hpp"

namespace {

using namespace programs;

class Gpt : public testing::Test, public Folder {
 public:
  Gpt() : Folder(COTAN_GPT) {
    std::string text;
    for (int i = 0; i < 400; ++i)
      text += "the " + std::to_string(i % 10) + " comes after the " + std::to_string((i + 9) % 10) + ".\n";
    write("text.txt", text);
  }
  Outcome train(const std::string& more) const {
    return run(
        "train text.txt --size tiny --layers 1 --width 16 --heads 2 --context 16 --vocabulary 270 --batch 2 "
        "--warmup 2 --save-every 5 --eval-every 100 -q " +
        more);
  }
  std::string weights(const std::string& run) const {
    return contents(folder_ / run / "step-00000020" / "model.safetensors");
  }
};

TEST_F(Gpt, TrainingGoesOnToTheLastBit) {
  ASSERT_EQ(train("--steps 20 --out whole --dropout 0.1").code, 0) << contents(folder_ / "stderr.txt");
  // The schedule is that of the whole run; the first part is killed behind a checkpoint.
  const std::string command =
      "cd '" + folder_.string() +
      "' && timeout -s KILL 60 sh -c '\"" COTAN_GPT
      "\" train text.txt --size tiny --layers 1 --width 16 --heads 2 --context 16 --vocabulary 270 --batch 2 "
      "--warmup 2 --save-every 5 --eval-every 100 -q --steps 20 --out parts --dropout 0.1 & p=$!; "
      "while [ ! -e parts/step-00000005 ]; do sleep 0.01; done; kill -9 $p'";
  (void)std::system(command.c_str());
  ASSERT_TRUE(fs::exists(folder_ / "parts"));
  ASSERT_EQ(train("--steps 20 --out parts --dropout 0.1").code, 0);
  EXPECT_EQ(weights("parts"), weights("whole"));
  EXPECT_FALSE(weights("whole").empty());
  EXPECT_TRUE(fs::exists(folder_ / "parts" / "loss.svg"));
}

TEST_F(Gpt, LearnsAndWrites) {
  ASSERT_EQ(train("--steps 60 --lr 1e-2 --out run").code, 0);
  std::istringstream lines(contents(folder_ / "run" / "loss.csv"));
  std::vector<double> losses;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);)
    losses.push_back(std::stod(line.substr(line.find(',') + 1)));
  ASSERT_EQ(losses.size(), 60u);
  EXPECT_LT(losses.back(), 0.6 * losses.front());
  const Outcome once = run("generate run 'the 3' -n 10 --temperature 0.5 --seed 7");
  ASSERT_EQ(once.code, 0) << once.error;
  EXPECT_EQ(once.out, run("generate run 'the 3' -n 10 --temperature 0.5 --seed 7").out);
  EXPECT_TRUE(once.out.starts_with("the 3"));
  EXPECT_EQ(run("generate run 'the 3' -n 5 --samples 3 --top-k 4 --top-p 0.9").code, 0);
  const Outcome eval = run("eval run text.txt");
  ASSERT_EQ(eval.code, 0) << eval.error;
  EXPECT_NE(eval.out.find("perplexity"), std::string::npos);
  EXPECT_NE(run("inspect run/step-00000060").out.find("h.0.attn.c_attn.weight"), std::string::npos);
  EXPECT_EQ(run("tokenize run text.txt --count").code, 0);
}

TEST_F(Gpt, GreedyTextIsTheOneOfTheWholeModel) {
  // With the cache of keys and values, and without: each next token is the most likely one of the whole text so far.
  ASSERT_EQ(train("--steps 30 --lr 1e-2 --out run").code, 0);
  const std::string longer = run("generate run 'the 3 comes' -n 8 --temperature 0 --no-stream").out;
  std::string text = "the 3 comes";
  for (int i = 0; i < 8; ++i) {
    std::string next = run("generate run '" + text + "' -n 1 --temperature 0 --no-stream").out;
    next.pop_back();
    text = next;
    if (text.find('\n') != std::string::npos) break;
  }
  EXPECT_EQ(longer.substr(0, text.size()), text);
}

TEST_F(Gpt, SaysWhatIsWrong) {
  expect_refused("generate nowhere", "is not there");
  expect_refused("train nowhere.txt", "nowhere.txt", 2);
  expect_refused("train text.txt --heads 3 --size tiny -q", "is not a multiple of the 3 heads");
  expect_refused("train text.txt --amp int8 -q", "--amp is bf16 or f16", 2);
  expect_refused("train text.txt --lora 4 -q", "--from", 2);
  write("short.txt", "a");
  expect_refused("train short.txt --size tiny -q", "take longer texts");
  write("broken.safetensors", "no tensors");
  EXPECT_EQ(run("inspect broken.safetensors").code, 1);
}

}  // namespace
