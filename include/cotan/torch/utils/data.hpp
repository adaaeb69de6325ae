// Batches of tensors: torch.utils.data's TensorDataset and DataLoader.
#pragma once
#include <cotan/torch/tensor.hpp>

/// `torch.utils.data`.
namespace cotan::torch::utils::data {

/// Tensors of which each index of the first axis is an example.
class TensorDataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors, std::source_location where = COTAN_HERE);  ///< equally long
  std::int64_t size() const { return size_; }                      ///< how many examples there are
  const std::vector<Tensor>& tensors() const { return tensors_; }  ///< all of them
  /// Examples start, start + 1 … before end, of each tensor.
  std::vector<Tensor> slice(std::int64_t start, std::int64_t end) const;
  /// These examples, of each tensor.
  std::vector<Tensor> pick(const std::vector<std::int64_t>& indices) const;

 private:
  std::vector<Tensor> tensors_;
  std::int64_t size_ = 0;
};

/// Of DataLoader.
struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;    ///< another order each time it is gone through
  bool drop_last = false;  ///< what is less than a batch at the end is left out
  std::uint64_t seed = 0;  ///< of the orders, which are the same on every machine
};
/// Batches of a dataset, again and again:
///
///     for (const auto& batch : loader) { const auto& x = batch[0]; const auto& y = batch[1]; … }
class DataLoader {
 public:
  explicit DataLoader(TensorDataset dataset, const DataLoaderOptions& options = {},
                      std::source_location where = COTAN_HERE);
  std::int64_t size() const;  ///< how many batches there are

  /// Goes through one epoch.
  class Iterator {
   public:
    std::vector<Tensor> operator*() const;                                           ///< the batch
    Iterator& operator++();                                                          ///< the next one
    bool operator==(const Iterator& other) const { return batch_ == other.batch_; }  ///< whether at the same batch

   private:
    friend class DataLoader;
    Iterator(const DataLoader& loader, std::int64_t batch) : loader_(&loader), batch_(batch) {}
    const DataLoader* loader_;
    std::int64_t batch_;
    std::vector<std::int64_t> order_;
  };
  /// The first batch, of the next order where it shuffles.
  Iterator begin();
  Iterator end() const { return {*this, size()}; }  ///< behind the last one
  std::int64_t epoch() const { return epoch_; }     ///< how often begin() was called
  /// The next begin() gives the order of that epoch: to go on after a stop.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

 private:
  TensorDataset dataset_;
  DataLoaderOptions options_;
  std::int64_t epoch_ = 0;
};

}  // namespace cotan::torch::utils::data
