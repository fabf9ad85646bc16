import type { DeviceBuffer, Extent, Kernel, KernelConstants, KernelEntry } from "../device.ts";
import { handleFrom } from "./entry-points.ts";
import * as S from "./structs.ts";
import type { VulkanBuffer, VulkanDevice } from "./vulkan-device.ts";

const COMPUTE_STAGE = 0x20;
const STORAGE_BUFFER = 7;
const STAGE_COMPUTE_SHADER = 0x800;
const STAGE_TOP = 0x1;
const STAGE_BOTTOM = 0x2000;
const SHADER_READ_WRITE = 0x20 | 0x40;

/** A compute pipeline: specialisation constants 0 threads, 1 rows, 2 heads; parameters as push constants. */
export class VulkanKernel implements Kernel {
  readonly #owner: VulkanDevice;
  readonly #bindings: number;
  readonly #setLayout: bigint;
  readonly #layout: bigint;
  readonly #pipeline: bigint;
  readonly #pool: bigint;
  readonly #set: bigint;

  constructor(owner: VulkanDevice, entry: KernelEntry, constants: KernelConstants, spirv: Uint32Array) {
    const { vk, device } = owner;
    this.#owner = owner;
    this.#bindings = entry.buffers.length;
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
        pBindings: entry.buffers.map((_, binding) =>
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
        pushConstantRangeCount: 1,
        pPushConstantRanges: [
          S.VkPushConstantRange({ stageFlags: COMPUTE_STAGE, offset: 0, size: entry.params.length * 4 }),
        ],
      }),
      null,
    );
    const values = [constants.threads, constants.rows, constants.heads];
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
              mapEntryCount: values.length,
              pMapEntries: values.map((_, constantID) =>
                S.VkSpecializationMapEntry({ constantID, offset: constantID * 4, size: 4 }),
              ),
              dataSize: values.length * 4,
              pData: values,
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
    if (buffers.length !== this.#bindings) throw new RangeError(`${this.#bindings} buffers are bound`);
    const writes = buffers.map((buffer, dstBinding) =>
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
      vk.vkCmdPushConstants(command, this.#layout, COMPUTE_STAGE, 0, params.byteLength, params);
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
    vk.vkDestroyDescriptorPool(device, this.#pool, null);
    vk.vkDestroyPipeline(device, this.#pipeline, null);
    vk.vkDestroyPipelineLayout(device, this.#layout, null);
    vk.vkDestroyDescriptorSetLayout(device, this.#setLayout, null);
  }
}
