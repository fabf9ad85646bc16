import { readFileSync } from "node:fs";
import koffi from "koffi";
import type {
  Device,
  DeviceBuffer,
  DeviceDescription,
  Kernel,
  KernelConstants,
  KernelEntry,
  RowFormat,
} from "../device.ts";
import { VerifyError } from "../errors.ts";
import { specialisation } from "../variants.ts";
import { compileShader } from "./compile-shader.ts";
import { handleFrom, loadVulkan, type Vulkan } from "./entry-points.ts";
import { listPhysicalDevices, type PhysicalDevice } from "./physical-device.ts";
import * as S from "./structs.ts";
import { VulkanKernel } from "./vulkan-kernel.ts";

const STORAGE_AND_TRANSFER = 0x20 | 0x1 | 0x2;
const DEVICE_LOCAL = 1;
const HOST_VISIBLE_COHERENT = 2 | 4;
const STAGING_BYTES = 16 << 20;
const WAIT_NANOSECONDS = 120_000_000_000n;

export interface VulkanBuffer extends DeviceBuffer {
  readonly handle: bigint;
}

interface Memory {
  readonly buffer: bigint;
  readonly memory: bigint;
}

/** A Vulkan device with one compute queue. Buffers live in device memory; one staging buffer carries data. */
export class VulkanDevice implements Device {
  readonly description: DeviceDescription;
  readonly #sources = new Map<string, string>();
  readonly schedules = 1;
  readonly vk: Vulkan;
  readonly physical: PhysicalDevice;
  readonly device: bigint;
  readonly #instance: bigint;
  readonly #queue: bigint;
  readonly #pool: bigint;
  readonly #fence: bigint;
  readonly #memoryTypes: readonly number[];
  readonly #staging: Memory;
  readonly #window: Uint8Array<ArrayBuffer>;
  readonly command: bigint;
  readonly timestamps: bigint;

  /** @throws VerifyError DEVICE_UNAVAILABLE without a loader or a fit device */
  constructor() {
    const vk = loadVulkan();
    this.vk = vk;
    this.#instance = handleFrom(
      vk.vkCreateInstance,
      S.VkInstanceCreateInfo({
        pApplicationInfo: [
          S.VkApplicationInfo({
            pApplicationName: "eliza-inference verify",
            apiVersion: (1 << 22) | (2 << 12),
          }),
        ],
      }),
      null,
    );
    const found = listPhysicalDevices(vk, this.#instance);
    const physical = found.find((candidate) => candidate.storage16Bit);
    if (!physical) {
      vk.vkDestroyInstance(this.#instance, null);
      throw new VerifyError(
        "DEVICE_UNAVAILABLE",
        found.length === 0
          ? "the Vulkan loader lists no device with a compute queue and Vulkan 1.2"
          : `${found.map((candidate) => candidate.model).join(", ")}: no 16-bit storage buffers`,
        "install a driver (Debian: mesa-vulkan-drivers) or name its manifest in VK_DRIVER_FILES",
      );
    }
    this.physical = physical;
    this.description = {
      name: "vulkan",
      backend: "vulkan",
      kind: physical.software ? "software" : "hardware",
      model: physical.model,
      driver: physical.driver,
      subgroupWidth: physical.subgroupWidth,
      instructionSets: [],
    };
    const storage16 = S.VkPhysicalDevice16BitStorageFeatures({ storageBuffer16BitAccess: 1 });
    this.device = handleFrom(
      vk.vkCreateDevice,
      physical.handle,
      S.VkDeviceCreateInfo({
        pNext: S.chain("VkPhysicalDevice16BitStorageFeatures", storage16),
        queueCreateInfoCount: 1,
        pQueueCreateInfos: [
          S.VkDeviceQueueCreateInfo({
            queueFamilyIndex: physical.queueFamily,
            queueCount: 1,
            pQueuePriorities: [1],
          }),
        ],
      }),
      null,
    );
    this.#queue = handleFrom(vk.vkGetDeviceQueue, this.device, physical.queueFamily, 0);
    this.#memoryTypes = this.#listMemoryTypes();
    this.#pool = handleFrom(
      vk.vkCreateCommandPool,
      this.device,
      S.VkCommandPoolCreateInfo({ flags: 2, queueFamilyIndex: physical.queueFamily }),
      null,
    );
    this.command = handleFrom(
      vk.vkAllocateCommandBuffers,
      this.device,
      S.VkCommandBufferAllocateInfo({ commandPool: this.#pool, commandBufferCount: 1 }),
    );
    this.#fence = handleFrom(vk.vkCreateFence, this.device, S.VkFenceCreateInfo({}), null);
    this.timestamps = handleFrom(
      vk.vkCreateQueryPool,
      this.device,
      S.VkQueryPoolCreateInfo({ queryType: 2, queryCount: 2 }),
      null,
    );
    this.#staging = this.#allocate(STAGING_BYTES, HOST_VISIBLE_COHERENT);
    const address = handleFrom(vk.vkMapMemory, this.device, this.#staging.memory, 0, STAGING_BYTES, 0);
    this.#window = new Uint8Array(koffi.view(address, STAGING_BYTES));
  }

  setSchedule(): void {}

  sources(entry: KernelEntry): string | undefined {
    return this.#sources.get(entry.id);
  }

  async load(entry: KernelEntry, constants: KernelConstants, formats: readonly RowFormat[]): Promise<Kernel> {
    const shared = entry.sharedBytes(constants);
    if (constants.threads > this.physical.maxThreads || shared > this.physical.sharedMemoryBytes) {
      throw new VerifyError(
        "KERNEL_BUILD",
        `${entry.id} asks for ${constants.threads} threads and ${shared} bytes of shared memory; ${this.physical.model} has ${this.physical.maxThreads} and ${this.physical.sharedMemoryBytes}`,
        "choose fewer rows a group",
      );
    }
    const { path, sources } = compileShader(entry.stem);
    this.#sources.set(entry.id, sources);
    const bytes = readFileSync(path);
    const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    return new VulkanKernel(this, entry, specialisation(entry, constants, formats), words);
  }

  buffer(content: number | ArrayBufferView): VulkanBuffer {
    const byteLength = typeof content === "number" ? content : content.byteLength;
    // Kernels read pairs of bytes; a whole number of words keeps copies aligned.
    const size = Math.max(16, (byteLength + 15) & ~15);
    const { buffer, memory } = this.#allocate(size, DEVICE_LOCAL);
    const write = (data: ArrayBufferView): void => this.#upload(buffer, data);
    const result = {
      handle: buffer,
      byteLength,
      write,
      read: (): Uint8Array<ArrayBuffer> => this.#download(buffer, byteLength),
      [Symbol.dispose]: (): void => {
        this.vk.vkDestroyBuffer(this.device, buffer, null);
        this.vk.vkFreeMemory(this.device, memory, null);
      },
    };
    if (typeof content !== "number") write(content);
    return result;
  }

  async copyTime(from: DeviceBuffer, to: DeviceBuffer, repeat: number): Promise<number> {
    const { vk, timestamps } = this;
    const region = S.VkBufferCopy({ size: Math.min(from.byteLength, to.byteLength) });
    const started = performance.now();
    await this.submit((command) => {
      vk.vkCmdResetQueryPool(command, timestamps, 0, 2);
      vk.vkCmdWriteTimestamp(command, 0x1, timestamps, 0);
      for (let i = 0; i < repeat; i++) {
        vk.vkCmdCopyBuffer(command, (from as VulkanBuffer).handle, (to as VulkanBuffer).handle, 1, region);
        this.barrier(command, 0x1000, 0x1000, 0x1000, 0x1000);
      }
      vk.vkCmdWriteTimestamp(command, 0x2000, timestamps, 1);
    });
    return this.elapsed() ?? performance.now() - started;
  }

  /** Records with `record`, submits and waits on a worker thread. */
  async submit(record: (command: bigint) => void): Promise<void> {
    this.#begin(record);
    await this.vk.vkWaitForFences.async(this.device, 1, [this.#fence], 1, WAIT_NANOSECONDS);
  }

  /** Milliseconds between the two timestamps of the last submission, or undefined without timestamps. */
  elapsed(): number | undefined {
    if (this.physical.timestampPeriod === 0) return undefined;
    const ticks = new BigUint64Array(2);
    const bytes = new Uint8Array(ticks.buffer);
    this.vk.vkGetQueryPoolResults(this.device, this.timestamps, 0, 2, 16, bytes, 8, 1);
    return (Number(ticks[1]! - ticks[0]!) * this.physical.timestampPeriod) / 1e6;
  }

  [Symbol.dispose](): void {
    const { vk, device } = this;
    vk.vkDeviceWaitIdle(device);
    vk.vkDestroyBuffer(device, this.#staging.buffer, null);
    vk.vkFreeMemory(device, this.#staging.memory, null);
    vk.vkDestroyQueryPool(device, this.timestamps, null);
    vk.vkDestroyFence(device, this.#fence, null);
    vk.vkDestroyCommandPool(device, this.#pool, null);
    vk.vkDestroyDevice(device, null);
    vk.vkDestroyInstance(this.#instance, null);
  }

  #begin(record: (command: bigint) => void): void {
    const { vk, command } = this;
    vk.vkBeginCommandBuffer(command, S.VkCommandBufferBeginInfo({ flags: 1 }));
    record(command);
    vk.vkEndCommandBuffer(command);
    vk.vkResetFences(this.device, 1, [this.#fence]);
    vk.vkQueueSubmit(
      this.#queue,
      1,
      S.VkSubmitInfo({ commandBufferCount: 1, pCommandBuffers: [command] }),
      this.#fence,
    );
  }

  #copy(from: bigint, to: bigint, srcOffset: number, dstOffset: number, size: number): void {
    this.#begin((command) => {
      this.vk.vkCmdCopyBuffer(command, from, to, 1, S.VkBufferCopy({ srcOffset, dstOffset, size }));
      this.barrier(command, 0x1000, 0x1000, 0x1000, 0x6000 | 0x20 | 0x40);
    });
    this.vk.vkWaitForFences(this.device, 1, [this.#fence], 1, WAIT_NANOSECONDS);
  }

  /** A global memory barrier; stages and accesses as Vulkan's bits. Host reads are always made visible. */
  barrier(command: bigint, fromStage: number, fromAccess: number, toStage: number, toAccess: number): void {
    this.vk.vkCmdPipelineBarrier(
      command,
      fromStage,
      toStage | 0x4000 | 0x800,
      0,
      1,
      S.VkMemoryBarrier({ srcAccessMask: fromAccess, dstAccessMask: toAccess | 0x2000 }),
      0,
      null,
      0,
      null,
    );
  }

  #upload(target: bigint, data: ArrayBufferView): void {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    for (let offset = 0; offset < bytes.length; offset += STAGING_BYTES) {
      const part = bytes.subarray(offset, offset + STAGING_BYTES);
      this.#window.set(part);
      this.#copy(this.#staging.buffer, target, 0, offset, part.length);
    }
  }

  #download(source: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(byteLength);
    for (let offset = 0; offset < byteLength; offset += STAGING_BYTES) {
      const length = Math.min(STAGING_BYTES, byteLength - offset);
      this.#copy(source, this.#staging.buffer, offset, 0, length);
      result.set(this.#window.subarray(0, length), offset);
    }
    return result;
  }

  #listMemoryTypes(): number[] {
    const raw = new DataView(new ArrayBuffer(520));
    this.vk.vkGetPhysicalDeviceMemoryProperties(this.physical.handle, new Uint8Array(raw.buffer));
    return Array.from({ length: raw.getUint32(0, true) }, (_, index) => raw.getUint32(4 + index * 8, true));
  }

  #allocate(size: number, flags: number): Memory {
    const { vk, device } = this;
    const buffer = handleFrom(
      vk.vkCreateBuffer,
      device,
      S.VkBufferCreateInfo({ size, usage: STORAGE_AND_TRANSFER }),
      null,
    );
    const needs = {} as { size: number; memoryTypeBits: number };
    vk.vkGetBufferMemoryRequirements(device, buffer, needs);
    const memoryTypeIndex = this.#memoryTypes.findIndex(
      (has, index) => (needs.memoryTypeBits >>> index) & 1 && (has & flags) === flags,
    );
    const memory = handleFrom(
      vk.vkAllocateMemory,
      device,
      S.VkMemoryAllocateInfo({ allocationSize: needs.size, memoryTypeIndex }),
      null,
    );
    vk.vkBindBufferMemory(device, buffer, memory, 0);
    return { buffer, memory };
  }
}
