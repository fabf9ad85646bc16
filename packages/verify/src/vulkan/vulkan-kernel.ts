import type { DeviceBuffer, Extent, Kernel, KernelEntry } from "../device.ts";
import { handleFrom } from "./entry-points.ts";
import * as S from "./structs.ts";
import type { VulkanBuffer, VulkanDevice } from "./vulkan-device.ts";

const COMPUTE_STAGE = 0x20;
const STORAGE_BUFFER = 7;
const STAGE_COMPUTE_SHADER = 0x800;
const STAGE_TOP = 0x1;
const STAGE_BOTTOM = 0x2000;
const SHADER_READ_WRITE = 0x20 | 0x40;
/** Bytes of push constants that every device has. */
const MOST_PUSHED = 128;

/** A compute pipeline. Parameters are push constants, or one more buffer where a device may not have room for them. */
export class VulkanKernel implements Kernel {
  readonly #owner: VulkanDevice;
  readonly #bindings: number;
  readonly #params: VulkanBuffer | undefined;
  readonly #setLayout: bigint;
  readonly #layout: bigint;
  readonly #pipeline: bigint;
  readonly #pool: bigint;
  readonly #set: bigint;

  /** @param constants of specialisation, by their ids from 0 on */
  constructor(owner: VulkanDevice, entry: KernelEntry, constants: readonly number[], spirv: Uint32Array) {
    const { vk, device } = owner;
    this.#owner = owner;
    const paramBytes = entry.params.length * 4;
    this.#params = paramBytes > MOST_PUSHED ? owner.buffer(paramBytes) : undefined;
    this.#bindings = entry.buffers.length + (this.#params ? 1 : 0);
    const module = handleFrom(
      vk.vkCreateShaderModule,
      device,
      S.VkShaderModuleCreateInfo({ codeSize: spirv.byteLength, pCode: spirv }),
      null,
    );
    this.#setLayout = handleFrom(
      vk.vkCreateDescriptorSetLayout,
      device,
      S.VkDescriptorSetLayoutCreateInfo({
        bindingCount: this.#bindings,
        pBindings: Array.from({ length: this.#bindings }, (_, binding) =>
          S.VkDescriptorSetLayoutBinding({
            binding,
            descriptorType: STORAGE_BUFFER,
            descriptorCount: 1,
            stageFlags: COMPUTE_STAGE,
          }),
        ),
      }),
      null,
    );
    this.#layout = handleFrom(
      vk.vkCreatePipelineLayout,
      device,
      S.VkPipelineLayoutCreateInfo({
        setLayoutCount: 1,
        pSetLayouts: [this.#setLayout],
        pushConstantRangeCount: this.#params ? 0 : 1,
        pPushConstantRanges: this.#params
          ? null
          : [S.VkPushConstantRange({ stageFlags: COMPUTE_STAGE, offset: 0, size: paramBytes })],
      }),
      null,
    );
    this.#pipeline = handleFrom(
      vk.vkCreateComputePipelines,
      device,
      0n,
      1,
      S.VkComputePipelineCreateInfo({
        stage: S.VkPipelineShaderStageCreateInfo({
          stage: COMPUTE_STAGE,
          module,
          pName: "main",
          pSpecializationInfo: [
            S.VkSpecializationInfo({
              mapEntryCount: constants.length,
              pMapEntries: constants.map((_, constantID) =>
                S.VkSpecializationMapEntry({ constantID, offset: constantID * 4, size: 4 }),
              ),
              dataSize: constants.length * 4,
              pData: [...constants],
            }),
          ],
        }),
        layout: this.#layout,
      }),
      null,
    );
    vk.vkDestroyShaderModule(device, module, null);
    this.#pool = handleFrom(
      vk.vkCreateDescriptorPool,
      device,
      S.VkDescriptorPoolCreateInfo({
        maxSets: 1,
        poolSizeCount: 1,
        pPoolSizes: [S.VkDescriptorPoolSize({ type: STORAGE_BUFFER, descriptorCount: this.#bindings })],
      }),
      null,
    );
    this.#set = handleFrom(
      vk.vkAllocateDescriptorSets,
      device,
      S.VkDescriptorSetAllocateInfo({
        descriptorPool: this.#pool,
        descriptorSetCount: 1,
        pSetLayouts: [this.#setLayout],
      }),
    );
  }

  async dispatch(
    groups: Extent,
    buffers: readonly DeviceBuffer[],
    params: Uint32Array,
    repeat = 1,
  ): Promise<number> {
    const { vk, device, timestamps } = this.#owner;
    const bound = this.#params ? [...buffers, this.#params] : buffers;
    if (bound.length !== this.#bindings) throw new RangeError(`${this.#bindings} buffers are bound`);
    this.#params?.write(params);
    const writes = bound.map((buffer, dstBinding) =>
      S.VkWriteDescriptorSet({
        dstSet: this.#set,
        dstBinding,
        descriptorCount: 1,
        descriptorType: STORAGE_BUFFER,
        pBufferInfo: [
          S.VkDescriptorBufferInfo({
            buffer: (buffer as VulkanBuffer).handle,
            offset: 0,
            range: 0xffffffffffffffffn,
          }),
        ],
      }),
    );
    vk.vkUpdateDescriptorSets(device, writes.length, writes, 0, null);
    const started = performance.now();
    await this.#owner.submit((command) => {
      vk.vkCmdResetQueryPool(command, timestamps, 0, 2);
      vk.vkCmdBindPipeline(command, 1, this.#pipeline);
      vk.vkCmdBindDescriptorSets(command, 1, this.#layout, 0, 1, [this.#set], 0, null);
      if (!this.#params) {
        vk.vkCmdPushConstants(command, this.#layout, COMPUTE_STAGE, 0, params.byteLength, params);
      }
      vk.vkCmdWriteTimestamp(command, STAGE_TOP, timestamps, 0);
      for (let i = 0; i < repeat; i++) {
        vk.vkCmdDispatch(command, ...groups);
        this.#owner.barrier(command, STAGE_COMPUTE_SHADER, 0x40, 0x1000, SHADER_READ_WRITE | 0x800);
      }
      vk.vkCmdWriteTimestamp(command, STAGE_BOTTOM, timestamps, 1);
    });
    return this.#owner.elapsed() ?? performance.now() - started;
  }

  [Symbol.dispose](): void {
    const { vk, device } = this.#owner;
    this.#params?.[Symbol.dispose]();
    vk.vkDestroyDescriptorPool(device, this.#pool, null);
    vk.vkDestroyPipeline(device, this.#pipeline, null);
    vk.vkDestroyPipelineLayout(device, this.#layout, null);
    vk.vkDestroyDescriptorSetLayout(device, this.#setLayout, null);
  }
}
