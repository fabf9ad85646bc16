import koffi from "koffi";

type Members = Readonly<Record<string, string>>;

/** A Vulkan struct. Making one takes only members it has; those left out are zero. */
export type StructMaker<M extends Members> = (members: { readonly [K in keyof M]?: unknown }) => object;

const header = { sType: "uint32_t", pNext: "void *" } as const;
const U = "uint32_t";
const SIZE = "uint64_t";
const HANDLE = "uint64_t"; // dispatchable handles are pointers, the others u64: the same on every 64-bit ABI

function plain<const M extends Members>(name: string, members: M): StructMaker<M> {
  koffi.struct(name, members);
  return (given) => given;
}

/** A struct that begins with sType and pNext. */
function tagged<const M extends Members>(
  name: string,
  sType: number,
  members: M,
): StructMaker<M & { pNext: "void *" }> {
  koffi.struct(name, { ...header, ...members });
  return (given) => ({ sType, ...given });
}

/** Points at a struct from a pNext chain. */
export function chain(name: string, value: object): unknown {
  return koffi.as(value, `${name} *`);
}

export const VkApplicationInfo = tagged("VkApplicationInfo", 0, {
  pApplicationName: "str",
  applicationVersion: U,
  pEngineName: "str",
  engineVersion: U,
  apiVersion: U,
});
export const VkInstanceCreateInfo = tagged("VkInstanceCreateInfo", 1, {
  flags: U,
  pApplicationInfo: "VkApplicationInfo *",
  enabledLayerCount: U,
  ppEnabledLayerNames: "str *",
  enabledExtensionCount: U,
  ppEnabledExtensionNames: "str *",
});
export const VkDeviceQueueCreateInfo = tagged("VkDeviceQueueCreateInfo", 2, {
  flags: U,
  queueFamilyIndex: U,
  queueCount: U,
  pQueuePriorities: "float *",
});
export const VkDeviceCreateInfo = tagged("VkDeviceCreateInfo", 3, {
  flags: U,
  queueCreateInfoCount: U,
  pQueueCreateInfos: "VkDeviceQueueCreateInfo *",
  enabledLayerCount: U,
  ppEnabledLayerNames: "str *",
  enabledExtensionCount: U,
  ppEnabledExtensionNames: "str *",
  pEnabledFeatures: "void *",
});
export const VkPhysicalDevice16BitStorageFeatures = tagged(
  "VkPhysicalDevice16BitStorageFeatures",
  1000083000,
  {
    storageBuffer16BitAccess: U,
    uniformAndStorageBuffer16BitAccess: U,
    storagePushConstant16: U,
    storageInputOutput16: U,
  },
);
export const VkBufferCreateInfo = tagged("VkBufferCreateInfo", 12, {
  flags: U,
  size: SIZE,
  usage: U,
  sharingMode: U,
  queueFamilyIndexCount: U,
  pQueueFamilyIndices: "void *",
});
koffi.struct("VkMemoryRequirements", { size: SIZE, alignment: SIZE, memoryTypeBits: U });
export const VkMemoryAllocateInfo = tagged("VkMemoryAllocateInfo", 5, {
  allocationSize: SIZE,
  memoryTypeIndex: U,
});
export const VkShaderModuleCreateInfo = tagged("VkShaderModuleCreateInfo", 16, {
  flags: U,
  codeSize: SIZE,
  pCode: "uint32_t *",
});
export const VkDescriptorSetLayoutBinding = plain("VkDescriptorSetLayoutBinding", {
  binding: U,
  descriptorType: U,
  descriptorCount: U,
  stageFlags: U,
  pImmutableSamplers: "void *",
});
export const VkDescriptorSetLayoutCreateInfo = tagged("VkDescriptorSetLayoutCreateInfo", 32, {
  flags: U,
  bindingCount: U,
  pBindings: "VkDescriptorSetLayoutBinding *",
});
export const VkPushConstantRange = plain("VkPushConstantRange", { stageFlags: U, offset: U, size: U });
export const VkPipelineLayoutCreateInfo = tagged("VkPipelineLayoutCreateInfo", 30, {
  flags: U,
  setLayoutCount: U,
  pSetLayouts: "uint64_t *",
  pushConstantRangeCount: U,
  pPushConstantRanges: "VkPushConstantRange *",
});
export const VkSpecializationMapEntry = plain("VkSpecializationMapEntry", {
  constantID: U,
  offset: U,
  size: SIZE,
});
export const VkSpecializationInfo = plain("VkSpecializationInfo", {
  mapEntryCount: U,
  pMapEntries: "VkSpecializationMapEntry *",
  dataSize: SIZE,
  pData: "uint32_t *",
});
export const VkPipelineShaderStageCreateInfo = tagged("VkPipelineShaderStageCreateInfo", 18, {
  flags: U,
  stage: U,
  module: HANDLE,
  pName: "str",
  pSpecializationInfo: "VkSpecializationInfo *",
});
export const VkComputePipelineCreateInfo = tagged("VkComputePipelineCreateInfo", 29, {
  flags: U,
  stage: "VkPipelineShaderStageCreateInfo",
  layout: HANDLE,
  basePipelineHandle: HANDLE,
  basePipelineIndex: "int32_t",
});
export const VkDescriptorPoolSize = plain("VkDescriptorPoolSize", { type: U, descriptorCount: U });
export const VkDescriptorPoolCreateInfo = tagged("VkDescriptorPoolCreateInfo", 33, {
  flags: U,
  maxSets: U,
  poolSizeCount: U,
  pPoolSizes: "VkDescriptorPoolSize *",
});
export const VkDescriptorSetAllocateInfo = tagged("VkDescriptorSetAllocateInfo", 34, {
  descriptorPool: HANDLE,
  descriptorSetCount: U,
  pSetLayouts: "uint64_t *",
});
export const VkDescriptorBufferInfo = plain("VkDescriptorBufferInfo", {
  buffer: HANDLE,
  offset: SIZE,
  range: SIZE,
});
export const VkWriteDescriptorSet = tagged("VkWriteDescriptorSet", 35, {
  dstSet: HANDLE,
  dstBinding: U,
  dstArrayElement: U,
  descriptorCount: U,
  descriptorType: U,
  pImageInfo: "void *",
  pBufferInfo: "VkDescriptorBufferInfo *",
  pTexelBufferView: "void *",
});
export const VkCommandPoolCreateInfo = tagged("VkCommandPoolCreateInfo", 39, {
  flags: U,
  queueFamilyIndex: U,
});
export const VkCommandBufferAllocateInfo = tagged("VkCommandBufferAllocateInfo", 40, {
  commandPool: HANDLE,
  level: U,
  commandBufferCount: U,
});
export const VkCommandBufferBeginInfo = tagged("VkCommandBufferBeginInfo", 42, {
  flags: U,
  pInheritanceInfo: "void *",
});
export const VkMemoryBarrier = tagged("VkMemoryBarrier", 46, { srcAccessMask: U, dstAccessMask: U });
export const VkBufferCopy = plain("VkBufferCopy", { srcOffset: SIZE, dstOffset: SIZE, size: SIZE });
export const VkSubmitInfo = tagged("VkSubmitInfo", 4, {
  waitSemaphoreCount: U,
  pWaitSemaphores: "void *",
  pWaitDstStageMask: "void *",
  commandBufferCount: U,
  pCommandBuffers: "uint64_t *",
  signalSemaphoreCount: U,
  pSignalSemaphores: "void *",
});
export const VkFenceCreateInfo = tagged("VkFenceCreateInfo", 8, { flags: U });
export const VkQueryPoolCreateInfo = tagged("VkQueryPoolCreateInfo", 11, {
  flags: U,
  queryType: U,
  queryCount: U,
  pipelineStatistics: U,
});
