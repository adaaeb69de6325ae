#include "backend/webgpu/features.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "core/recorder.hpp"

namespace cotan::webgpu {

namespace {

constexpr FeatureNumbers in_header{WGPUFeatureName_ShaderF16, WGPUFeatureName_Subgroups,
                                   WGPUFeatureName_TimestampQuery};
constexpr FeatureNumbers until_2025{WGPUFeatureName(10), WGPUFeatureName(17), WGPUFeatureName(3)};

template <class T>
struct Answer {
  std::atomic<bool> done = false;
  T object = nullptr;

  void give(T what) {
    object = what;
    done = true;
  }
};
template <class T>
T wait_for(WGPUInstance instance, const Answer<T>& answer) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!answer.done && std::chrono::steady_clock::now() < end) {
    api().InstanceProcessEvents(instance);
    std::this_thread::yield();
  }
  return answer.object;
}

/// Every device has the core features, asked for or not: a device that was asked for nothing tells their number.
bool numbers_are_as_in_header(WGPUInstance instance) {
  const recorder::Span span("start", "numbers of features");
  static Answer<WGPUAdapter> adapter_answer;  // static: an answer may come after we gave up
  static Answer<WGPUDevice> device_answer;
  WGPURequestAdapterCallbackInfo on_adapter{};
  on_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void*, void*) {
    adapter_answer.give(adapter);
  };
  WGPURequestAdapterOptions options{};
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  api().InstanceRequestAdapter(instance, &options, on_adapter);
  const AdapterHandle adapter(wait_for(instance, adapter_answer));
  if (!adapter) return true;
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_AllowProcessEvents;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void*, void*) {
    device_answer.give(device);
  };
  const WGPUDeviceDescriptor descriptor{};
  api().AdapterRequestDevice(adapter.get(), &descriptor, on_device);
  const DeviceHandle device(wait_for(instance, device_answer));
  return !device || api().DeviceHasFeature(device.get(), WGPUFeatureName_CoreFeaturesAndLimits);
}

}  // namespace

const FeatureNumbers& feature_numbers(WGPUInstance instance) {
  static const bool as_in_header = numbers_are_as_in_header(instance);
  return as_in_header ? in_header : until_2025;
}

}  // namespace cotan::webgpu
