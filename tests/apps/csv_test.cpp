// The CSV reader of cotan-dlm: what it understands, what each mistake is told, and that no bytes upset it.
#include "../../apps/dlm/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "../../apps/dlm/text.hpp"

using namespace apps;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

Table read(std::string_view text, const CsvOptions& options = {}) { return read_csv(text, "data.csv", options); }

/// The message of the CsvError that reading the text and using its columns throws.
std::string complaint(std::string_view text, const CsvOptions& options = {}) {
  try {
    const Table table = read(text, options);
    for (const Column& column : table.columns)
      if (!column.problem.empty()) throw CsvError(column.problem);
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

template <class F>
std::string complaint_of(F f) {
  try {
    f();
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

void expect_values(const Column& column, const std::vector<double>& expected) {
  ASSERT_EQ(column.values.size(), expected.size()) << column.name;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(column.values[i])) << column.name << " row " << i;
    else
      EXPECT_EQ(column.values[i], expected[i]) << column.name << " row " << i;
}

Time only_time(const std::string& field) {
  const Table table = read("when,x\n" + field + ",1\n", {.separator = ','});
  return {table.columns[0].values[0], table.columns[0].form};
}

}  // namespace

TEST(Csv, HeaderAndNumbers) {
  const Table t = read("a,b\n1,2.5\n-3,4e2\n+.5,5.\n");
  ASSERT_EQ(t.columns.size(), 2u);
  EXPECT_EQ(t.rows(), 3u);
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(t.columns[0].kind, ColumnKind::number);
  expect_values(t.column("a"), {1, -3, 0.5});
  expect_values(t.column("b"), {2.5, 400, 5});
  EXPECT_TRUE(t.columns[0].text.empty());
}
TEST(Csv, NoHeader) {
  const Table t = read("1,2\n3,4\n");
  EXPECT_EQ(t.columns[1].name, "c2");
  expect_values(t.column("c1"), {1, 3});
  EXPECT_EQ(read("1949-01,112\n1949-02,118\n").columns[0].name, "c1");
  EXPECT_EQ(read("7,NA\n8,1\n").rows(), 2u);
}
TEST(Csv, HeaderForced) {
  EXPECT_EQ(read("2001,2002\n3,4\n", {.header = Header::present}).columns[1].name, "2002");
  EXPECT_EQ(read("a,b\nc,d\n", {.header = Header::absent}).rows(), 2u);
}
TEST(Csv, EmptyNamesArePositions) { EXPECT_EQ(read(",x\n1,2\n").columns[0].name, "c1"); }
TEST(Csv, QuotedFields) {
  const Table t =
      read("name,\"the \"\"value\"\"\"\n\"Smith, J\",1\n\"two\nlines\r\nmore\", \"2\" \nplain \"inch\",3\n");
  EXPECT_EQ(t.columns[1].name, "the \"value\"");
  EXPECT_EQ(t.columns[0].text, (std::vector<std::string>{"Smith, J", "two\nlines\r\nmore", "plain \"inch\""}));
  expect_values(t.columns[1], {1, 2, 3});
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{2, 3, 6}));
}
TEST(Csv, LineEndings) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string e = end;
    const Table t = read("a,b" + e + "1,2" + e + e + "3,4");
    expect_values(t.column("a"), {1, 3});
    expect_values(t.column("b"), {2, 4});
    EXPECT_EQ(t.lines, (std::vector<std::size_t>{2, 4}));
  }
}
TEST(Csv, ByteOrderMark) { EXPECT_EQ(read("\xEF\xBB\xBFyear,x\n1,2\n").columns[0].name, "year"); }
TEST(Csv, SeparatorIsFound) {
  for (const char* text : {"a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "a ; b\n 1 ; 2\n"}) {
    const Table t = read(text);
    ASSERT_EQ(t.columns.size(), 2u) << text;
    EXPECT_EQ(t.columns[1].name, "b");
    expect_values(t.column("b"), {2});
  }
  EXPECT_EQ(read("city;note\nParis;one, two\nRome;three\n").columns.size(), 2u);
  EXPECT_EQ(read("city,note\nParis,one; two\nRome,three\n").columns.size(), 2u);
  EXPECT_EQ(read("\"a;b\",c\n1,2\n").columns.size(), 2u);
}
TEST(Csv, SeparatorForced) {
  EXPECT_EQ(read("a,b;c\n1,2;3\n", {.separator = ';'}).columns[0].name, "a,b");
  expect_values(read("a|b\n1|2\n", {.separator = '|'}).column("b"), {2});
  expect_values(read("a\tb\n\t2\n", {.separator = '\t'}).column("a"), {gap});
}
TEST(Csv, DecimalComma) {
  const Table t = read("t;x\n1;2,5\n2;-0,25\n", {.decimal = ','});
  expect_values(t.column("x"), {2.5, -0.25});
  expect_values(read("1,5\n2,5\n", {.decimal = ','}).column("c1"), {1.5, 2.5});
}
TEST(Csv, BlankLinesAndComments) {
  const Table t = read("\n  \na,b\n\n1,2\n \t \n3,4\n\n\n");
  EXPECT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.lines[1], 7u);
  EXPECT_EQ(read("# made by hand\na\n1\n#2\n3\n", {.comment = '#'}).rows(), 2u);
  EXPECT_EQ(read("#id\n1\n").columns[0].name, "#id");
}
TEST(Csv, MissingValues) {
  const Table t = read("x,y\n,1\nNA,1\nn/a,1\nNaN,1\nnull,1\n.,1\n-,1\n\"\",1\n-nan,1\n5,1\n");
  EXPECT_EQ(t.columns[0].kind, ColumnKind::number);
  expect_values(t.columns[0], {gap, gap, gap, gap, gap, gap, gap, gap, gap, 5});
}
TEST(Csv, AllMissingIsNumeric) {
  const Table t = read("x,y\nNA,1\n,2\n");
  EXPECT_EQ(t.columns[0].kind, ColumnKind::number);
  expect_values(t.numeric("x"), {gap, gap});
}
TEST(Csv, TextColumns) {
  const Table t = read("name,x\nanna,1\n17,2\nbert,3\n");
  EXPECT_EQ(t.columns[0].kind, ColumnKind::text);
  EXPECT_EQ(t.columns[0].text[1], "17");
  EXPECT_TRUE(t.columns[0].values.empty());
}
TEST(Csv, TooSmallIsZero) {
  expect_values(read("x\n1e-999\n0." + std::string(400, '0') + "1\n-0e999999999999999999999\n5e-324\n").column("x"),
                {0, 0, 0, 5e-324});
}
TEST(Csv, LongLines) {
  std::string text = "a,b\n" + std::string(1 << 20, 'x') + ",1\n";
  EXPECT_EQ(read(text).columns[0].text[0].size(), std::size_t{1} << 20);
  std::string wide = "1", row = "2";
  for (int i = 1; i < 5000; ++i) wide += ",1", row += ",2";
  EXPECT_EQ(read(wide + "\n" + row).columns.size(), 5000u);
}

TEST(CsvDates, Forms) {
  const auto expect = [](const char* field, double value, DateForm form) {
    const Time time = only_time(field);
    EXPECT_DOUBLE_EQ(time.value, value) << field;
    EXPECT_EQ(time.form, form) << field;
  };
  expect("1871-01", 12 * 1871.0, DateForm::month);
  expect("1871-12", 12 * 1871.0 + 11, DateForm::month);
  expect("2020-Q1", 4 * 2020.0, DateForm::quarter);
  expect("2020Q4", 4 * 2020.0 + 3, DateForm::quarter);
  expect("1970-01-02", 1, DateForm::day);
  expect("1970/01/02", 1, DateForm::day);
  expect("2024-02-29", 19782, DateForm::day);
  expect("1969-12-31", -1, DateForm::day);
  expect("1970-01-01T00:01", 60, DateForm::second);
  expect("1970-01-01 00:01:02", 62, DateForm::second);
  expect("1970-01-01T00:00:01.250", 1.25, DateForm::second);
  expect("1970-01-01T01:00:00Z", 3600, DateForm::second);
  expect("1970-01-01T01:00:00+01:00", 0, DateForm::day);
  expect("1970-01-01T01:00:00-02:30", 3600 + 9000, DateForm::second);
  expect("1970-01-01T02:00:00+0100", 3600, DateForm::second);
}
TEST(CsvDates, NotDates) {
  for (const char* field :
       {"2020-13", "2020-00", "2021-02-29", "2020-01-32", "2020-01/02", "2020-Q5", "2021-W53", "2020-366x",
        "2020-01-01T24:01", "2020-01-01T10:61", "2020-01-01T10:00:00.", "2020-01-01Tx", "2020-01-01T10:00Zx",
        "20200101T", "2020-01-01T10:00+1", "2020-01-01T13:00 PM", "30 Feb 2020", "Foo 2020"})
    EXPECT_EQ(read(std::string("when,x\n") + field + ",1\n").columns[0].kind, ColumnKind::text) << field;
}
TEST(CsvDates, Years) {
  const Table nile = read("year,flow\n1871,1120\n1872,1160\n");
  EXPECT_EQ(nile.columns[0].kind, ColumnKind::date);
  EXPECT_EQ(nile.columns[0].unit(), TimeUnit::year);
  expect_values(nile.time("year"), {1871, 1872});
  expect_values(nile.numeric("year"), {1871, 1872});
  EXPECT_EQ(nile.columns[1].kind, ColumnKind::number);
  EXPECT_EQ(read("x,YEAR\n1,1990\n2,1980\n").columns[1].unit(), TimeUnit::year) << "by its name";
  EXPECT_EQ(read("1871,5\n1872,6\n").columns[0].unit(), TimeUnit::year) << "leads and grows";
  EXPECT_EQ(read("1871\n1872\n").columns[0].kind, ColumnKind::number) << "nothing else is there";
  EXPECT_EQ(read("level,x\n1300,5\n1200,6\n").columns[0].kind, ColumnKind::number);
  EXPECT_EQ(read("year,x\n71,5\n72,6\n").columns[0].kind, ColumnKind::number);
}
TEST(CsvDates, MonthsAreEquallySpaced) {
  for (const char* text : {"m,x\n2023-11,1\n2023-12,2\n2024-01,3\n2024-02,4\n2024-03,5\n",
                           "m,x\n2023-11-01,1\n2023-12-01,2\n2024-01-01,3\n2024-02-01,4\n2024-03-01,5\n",
                           "m,x\n2023-11-30,1\n2023-12-31,2\n2024-01-31,3\n2024-02-29,4\n2024-03-31,5\n"}) {
    const Column m = read(text).columns[0];
    EXPECT_EQ(m.unit(), TimeUnit::month);
    EXPECT_EQ(common_step(m.values), 1) << text;
  }
  EXPECT_EQ(read("d,x\n2024-01-01,1\n2024-01-02,2\n").columns[0].unit(), TimeUnit::day);
  EXPECT_EQ(read("d,x\n2024-01-01,1\n2024-01-01,2\n").columns[0].unit(), TimeUnit::day);
}
TEST(CsvDates, MissingAndMixed) {
  const Table t = read("d,x\n2024-01-02,1\n,2\n2024-01-03T12:00,3\n");
  EXPECT_EQ(t.columns[0].unit(), TimeUnit::second);
  expect_values(t.columns[0], {19724 * 86400.0, gap, 19725.5 * 86400});
  EXPECT_EQ(complaint("d,x\n2024-01-02,1\n2024-02,2\n"),
            "[csv] data.csv:3, column \"d\": \"2024-02\" is a month where the rows before it hold a day; write all "
            "dates of a column in one form.");
}
TEST(CsvDates, FormatReturnsWhatWasRead) {
  for (const char* text : {"0007-03", "2024-Q3", "2024-02-29", "1900-03-01", "2024-02-29T23:59:59", "2020-W53",
                           "1969-12-31T23:59:59.125", "9999-12-31"}) {
    const Time time = only_time(text);
    EXPECT_EQ(format_time(time.value, time.form), text);
  }
  EXPECT_EQ(format_time(1871, DateForm::year), "1871");
  EXPECT_EQ(format_time(12 * 2024.0 + 1, DateForm::day_of_month), "2024-02-01");
  EXPECT_EQ(format_time(12 * 2024.0 + 1, DateForm::month_end), "2024-02-29");
  EXPECT_EQ(format_time(2.5, DateForm::none), "2.5");
  for (const DateForm form : {DateForm::year, DateForm::month_end, DateForm::day, DateForm::second})
    for (const double time : {1e300, -1e300, gap, 1e18}) EXPECT_FALSE(format_time(time, form).empty());
  EXPECT_EQ(format_time(12 * 2024.0 + 1 + 14 / 32.0, DateForm::day_of_month), "2024-02-15");
}
TEST(CsvDates, CommonStep) {
  EXPECT_EQ(common_step(std::vector<double>{1, 3, 5}), 2);
  EXPECT_EQ(common_step(std::vector<double>{1, 3, 6}), 0);
  EXPECT_EQ(common_step(std::vector<double>{3, 2, 1}), 0);
  EXPECT_EQ(common_step(std::vector<double>{1, gap, 3}), 0);
  EXPECT_EQ(common_step(std::vector<double>{1}), 0);
  EXPECT_NEAR(common_step(std::vector<double>{0.1, 0.2, 0.30000000000000004}), 0.1, 1e-12);
}
TEST(CsvDates, UnitNames) { EXPECT_EQ(name_of(unit_of(DateForm::month_end)), "month"); }

TEST(CsvErrors, Ragged) {
  EXPECT_EQ(complaint("a,b\n1,2\n3\n"),
            "[csv] data.csv:3: this row has 1 field where the header has 2; fill in or remove fields, or "
            "quote those "
            "that hold the separator ','.");
  EXPECT_EQ(complaint("1\t2\n3\t4\t5\n"),
            "[csv] data.csv:2: this row has 3 fields where the first row has 2; fill in or remove fields, or quote "
            "those that hold the separator '\\t'.");
}
TEST(CsvErrors, UnterminatedQuote) {
  EXPECT_EQ(complaint("a,b\n1,\"two\n3,4\n"),
            "[csv] data.csv:2: the quote that opens \"two\\n3,4\\n\" is never closed; add the closing quote, "
            "or double "
            "it (\"\") if it belongs to the text.");
}
TEST(CsvErrors, TextAfterQuote) {
  EXPECT_EQ(complaint("a,b\n\"1\"st,2\n"),
            "[csv] data.csv:2: \"st,2\" follows a closing quote; put the separator ',' after it, or double "
            "the quote "
            "(\"\") if it belongs to the text.");
}
TEST(CsvErrors, NotANumber) {
  EXPECT_EQ(complaint("year,flow\n1871,1120\n1872,11x60\n1873,963\n"),
            "[csv] data.csv:3, column \"flow\": \"11x60\" is not a number, as the other fields of the column are; "
            "correct it, or leave the field empty if the value is missing.");
  EXPECT_NE(complaint("x\n1\n2\n0x1F\n").find("\"0x1F\" is not a number"), std::string::npos);
  EXPECT_NE(complaint("x\n1\n2\n" + std::string(500, 'z')).find("zzz…\" is not a number"), std::string::npos);
  EXPECT_NE(complaint("x\n1\n2\n\x1b[31m\n").find("byte 0x1B"), std::string::npos);
  EXPECT_NE(complaint("x\n1\n2\n\xff\n").find("\"ÿ\" is not a number"), std::string::npos);
  EXPECT_NE(complaint("größe\n1\n2\nzwölf\n").find("column \"größe\": \"zwölf\" is not"), std::string::npos);
}
TEST(CsvErrors, CommaInNumber) {
  EXPECT_EQ(complaint("t,x\n1,2.5\n2,\"1,23\"\n3,4.5\n"),
            "[csv] data.csv:3, column \"x\": \"1,23\" is not a number with a decimal point, as the other fields of "
            "the column are; correct it, or set the decimal mark with --decimal.");
}
TEST(CsvErrors, OutOfRange) {
  for (const char* number : {"1e999", "-1e999", "1e99999999999999999999"})
    EXPECT_EQ(complaint(std::string("x\n1\n") + number + "\n"),
              std::string("[csv] data.csv:3, column \"x\": \"") + number +
                  "\" is too large for a number; scale the data, or leave the field empty if the value is "
                  "missing.");
  for (const char* number : {"inf", "-Infinity"})
    EXPECT_EQ(complaint(std::string("x\n1\n") + number + "\n"),
              std::string("[csv] data.csv:3, column \"x\": \"") + number +
                  "\" is infinite; leave the field empty if the value is missing.");
  EXPECT_NE(complaint("x\n1" + std::string(400, '0') + "\n").find("too large"), std::string::npos);
}
TEST(CsvErrors, NotADate) {
  EXPECT_EQ(complaint("d,x\n2024-01-30,1\n2024-01-31,2\n2024-02-30,3\n"),
            "[csv] data.csv:4, column \"d\": \"2024-02-30\" is not a date that is known; write 2024-01-31, "
            "2024-01, "
            "2024-Q1, 2024 or 2024-01-31T12:00:00, or describe it by --date-format (such as '%d/%m/%Y'), or "
            "leave the "
            "field empty if the date is missing.");
}
TEST(CsvErrors, UnusedColumnsMayBeUnsound) {
  const Table t = read("x,note,when\n1,5,2024-01-01\n2,6,2024-01\n3,seven,2024-01-03\n");
  expect_values(t.numeric("x"), {1, 2, 3});
  EXPECT_NE(complaint_of([&] { t.numeric("note"); }).find("data.csv:4, column \"note\": \"seven\""), std::string::npos);
  EXPECT_NE(complaint_of([&] { t.time("when"); }).find("data.csv:3, column \"when\": \"2024-01\" is a month"),
            std::string::npos);
}
TEST(CsvErrors, DuplicateNames) {
  EXPECT_EQ(complaint("a,b, a\n1,2,3\n"),
            "[csv] data.csv:1: columns 1 and 3 are both named \"a\"; give each column a name of its own.");
}
TEST(CsvErrors, EmptyFile) {
  for (const char* text : {"", "\n\n", "  \n", "\xEF\xBB\xBF", "\r\n"})
    EXPECT_EQ(complaint(text), "[csv] data.csv: the file is empty; give a header line and rows of data.");
}
TEST(CsvErrors, NoRows) {
  EXPECT_EQ(complaint("a,b\n"), "[csv] data.csv: there is a header but no row of data; add rows below it.");
}
TEST(CsvErrors, Binary) {
  EXPECT_EQ(complaint(std::string_view("a,b\n1,\0\n", 8)),
            "[csv] data.csv:2: byte 0x00 does not belong in a text file; give a CSV file saved as UTF-8.");
  EXPECT_EQ(complaint(std::string_view("\xFF\xFE\0\0", 4)),
            "[csv] data.csv: this is UTF-32 text; save the file as UTF-8.");
  EXPECT_EQ(complaint("\x1F\x8B\x08"), "[csv] data.csv: this is a gzip file; unpack it first.");
  EXPECT_EQ(complaint("PK\x03\x04"), "[csv] data.csv: this is a zip archive or a spreadsheet; save the sheet as CSV.");
}
TEST(CsvErrors, Separator) {
  EXPECT_EQ(complaint("a,b\n1,2\n", {.separator = '"'}),
            "[csv] data.csv: \"\"\" cannot separate fields; choose ',', ';' or a tab, and a decimal mark "
            "that differs "
            "from it.");
  EXPECT_NE(complaint("a,b\n1,2\n", {.separator = ',', .decimal = ','}).find("cannot separate"), std::string::npos);
}
TEST(CsvErrors, UnknownColumn) {
  const Table t = read("Year,flow,note\n1871,1120,a\n1872,1160,b\n");
  EXPECT_EQ(complaint_of([&] { t.column("flwo"); }),
            "[csv] data.csv: there is no column \"flwo\" (did you mean \"flow\"?); the columns are "
            "\"Year\", \"flow\", \"note\".");
  EXPECT_EQ(complaint_of([&] { t.column("flows"); }),
            "[csv] data.csv: there is no column \"flows\" (did you mean \"flow\"?); the columns are "
            "\"Year\", \"flow\", "
            "\"note\".");
  EXPECT_NE(complaint_of([&] { t.column("year"); }).find("did you mean \"Year\"?"), std::string::npos);
  EXPECT_EQ(complaint_of([&] { t.column(std::string(100000, 'x')); }).find("did you mean"), std::string::npos);
}
TEST(CsvErrors, ManyColumnsAreNotAllListed) {
  std::string names = "n0", row = "1";
  for (int i = 1; i < 30; ++i) names += ",n" + std::to_string(i), row += ",1";
  EXPECT_NE(complaint_of([&] { read(names + "\n" + row).column("zzzz"); }).find("\"n19\" and 10 more."),
            std::string::npos);
}
TEST(CsvErrors, WrongKind) {
  const Table t = read("day,flow,note\n2024-01-02,1120,\n2024-01-03,1160,dry\n");
  EXPECT_EQ(complaint_of([&] { t.numeric("note"); }),
            "[csv] data.csv: column \"note\" holds text (\"dry\" in line 3), not numbers; choose one of the "
            "numeric columns: \"flow\".");
  EXPECT_EQ(complaint_of([&] { t.numeric("day"); }),
            "[csv] data.csv: column \"day\" holds dates (\"2024-01-02\" in line 2), not numbers; choose one of the "
            "numeric columns: \"flow\".");
  EXPECT_EQ(complaint_of([&] { t.time("note"); }),
            "[csv] data.csv: column \"note\" holds text (\"dry\" in line 3), not dates or numbers; choose one of: "
            "\"day\", \"flow\".");
}

TEST(CsvFile, ReadsAndComplains) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string path = (folder / ("cotan_csv_test_" + std::to_string(std::random_device{}()) + ".csv")).string();
  std::ofstream(path) << "a,b\n1,2\n";
  expect_values(read_csv_file(path).column("b"), {2});
  std::filesystem::remove(path);
  EXPECT_EQ(complaint_of([&] { read_csv_file(path); }),
            "[csv] cannot open " + path + ": No such file or directory; check the path, or give - for standard input.");
  EXPECT_EQ(complaint_of([&] { read_csv_file(folder.string()); }),
            "[csv] " + folder.string() + " is a directory; give the path of a CSV file, or - for standard input.");
}

// Random bytes, random pieces of CSV, and real files with bytes changed: a table of equal columns, or a
// CsvError.
TEST(CsvFuzz, ReturnsOrThrowsCsvError) {
  std::mt19937 random(20240614);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string seeds[] = {"year,flow\n1871,1120\n1872,1160\n1873,NA\n1874,1210.5\n",
                               "\xEF\xBB\xBF\"m\";\"x \"\"y\"\"\"\r\n2020-01;1,5\r\n2020-02;\"2\n3\"\r\n",
                               "t\tx\n2020-01-01T00:00:00Z\t1e5\n2020-01-01T01:00:00+01:00\t-\n",
                               "2020-Q1,1\n2020-Q2,2\n2020/03/01,1e999\n", "a\n1\n\n2\n"};
  const std::string_view pieces[] = {
      ",",  ";",   "\t",   "\n",   "\r\n",       "\"",      "\"\"", "1",    "-2.5e3", "1e999",
      "NA", "nan", "2020", "inf",  "2020-02-29", "2020-Q4", "abc",  " ",    "\xC3",   "é",
      ".",  "-",   "+",    "T12:", "0000-00-00", "9999",    "#",    "1e-9", "\r",     "x,y"};
  const CsvOptions choices[] = {{},
                                {.header = Header::present},
                                {.header = Header::absent},
                                {.separator = ' ', .comment = '#'},
                                {.separator = ';', .decimal = ','},
                                {.dates = {.format = "%d%m%y"}}};
  std::size_t returned = 0, thrown = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text;
    if (i % 3 == 0) {
      text.resize(below(60));
      for (char& c : text) c = static_cast<char>(below(4) ? 32 + below(224) : below(256));
    } else if (i % 3 == 1) {
      for (std::size_t count = below(40); count > 0; --count) text += pieces[below(std::size(pieces))];
    } else {
      text = seeds[below(std::size(seeds))];
      for (std::size_t edits = 1 + below(6); edits > 0 && !text.empty(); --edits) {
        const std::size_t place = below(text.size());
        if (below(3) == 0)
          text.erase(place, 1 + below(5));
        else if (below(2))
          text.insert(place, pieces[below(std::size(pieces))]);
        else
          text[place] = static_cast<char>(below(256));
      }
    }
    try {
      const Table table = read(text, choices[below(std::size(choices))]);
      ++returned;
      ASSERT_FALSE(table.columns.empty());
      ASSERT_GT(table.rows(), 0u);
      for (const Column& column : table.columns) {
        const bool text_column = column.kind == ColumnKind::text;
        ASSERT_EQ(text_column ? column.text.size() : column.values.size(), table.rows());
        for (const double value : column.values) {
          ASSERT_FALSE(std::isinf(value));
          ASSERT_FALSE(format_time(value, column.form).empty());
        }
      }
    } catch (const CsvError& error) {
      ++thrown;
      const std::string what = error.what();
      ASSERT_TRUE(what.starts_with("[csv] ") && what.ends_with(".")) << what;
      ASSERT_LT(what.size(), 2500u);
      for (const char c : what) ASSERT_TRUE(static_cast<unsigned char>(c) >= 32) << what;
    }
  }
  EXPECT_GT(returned, 3000u);
  EXPECT_GT(thrown, 3000u);
}
