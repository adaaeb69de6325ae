// The script of a report, run by node: pointing, zooming, day and night. What it looks for is in report_page.js.
#include "program.hpp"

using namespace programs;

namespace {

/// What node says of a page; nothing where all is well.
std::string complaint(const Folder& here, const std::string& page) {
  const std::string command = "'" COTAN_NODE "' '" COTAN_SOURCE_DIR "/tests/apps/report_page.js' '" +
                              (here.folder_ / page).string() + "' >'" + (here.folder_ / "node.txt").string() + "' 2>&1";
  return std::system(command.c_str()) == 0 ? "" : contents(here.folder_ / "node.txt") + "(from node)";
}

}  // namespace

TEST(ReportScript, TellsValuesZoomsAndTurnsDark) {
  if (std::string_view(COTAN_NODE).empty())
    GTEST_SKIP() << "node was not there when cmake ran; tools/setup.sh installs it";
  const Folder here;
  ASSERT_EQ(here.run("forecast airline --log --season 12 --steps 24 --holdout 12 --report a.html --quiet").code, 0);
  ASSERT_EQ(here.run("fit nile --order 0 --report nile.html --quiet").code, 0);
  EXPECT_EQ(complaint(here, "a.html"), "");
  EXPECT_EQ(complaint(here, "nile.html"), "");

  // A script that reads out the row beside the nearest is found out.
  std::string wrong = contents(here.folder_ / "nile.html");
  const std::string right = "return best;";
  ASSERT_NE(wrong.find(right), wrong.npos);
  here.write("wrong.html", wrong.replace(wrong.find(right), right.size(), "return best - 1;"));
  EXPECT_NE(complaint(here, "wrong.html").find("AssertionError"), std::string::npos);
}
