import koffi from "koffi";
import type { Vulkan } from "./entry-points.ts";

export interface PhysicalDevice {
  readonly handle: bigint;
  readonly model: string;
  readonly driver: string;
  /** True for an implementation on the CPU. */
  readonly software: boolean;
  readonly apiVersion: readonly [major: number, minor: number];
  readonly subgroupWidth: number;
  readonly sharedMemoryBytes: number;
  readonly maxThreads: number;
  readonly maxBufferBytes: number;
  /** Nanoseconds a timestamp tick takes; 0 where the queue has no timestamps. */
  readonly timestampPeriod: number;
  readonly storage16Bit: boolean;
  readonly queueFamily: number;
}

/** An output struct in memory that stays where it is, so that a pNext chain can reach it. */
class OutputStruct {
  readonly view: DataView;
  readonly bytes: Uint8Array;
  constructor(sType: number, byteLength: number, next?: OutputStruct) {
    this.bytes = new Uint8Array(byteLength);
    this.view = new DataView(this.bytes.buffer);
    this.view.setUint32(0, sType, true);
    if (next) this.view.setBigUint64(8, BigInt(koffi.address(next.bytes)), true);
  }
  text(offset: number, length: number): string {
    const field = this.bytes.subarray(offset, offset + length);
    const end = field.indexOf(0);
    return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
  }
  u32(offset: number): number {
    return this.view.getUint32(offset, true);
  }
}

const PROPERTIES = 16; // sType and pNext come first
const COMPUTE_QUEUE = 2;
const TYPE_CPU = 4;

function computeQueueFamily(
  vk: Vulkan,
  device: bigint,
): { index: number; timestampBits: number } | undefined {
  const count = new Uint32Array(1);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device, count, null);
  const families = new Uint32Array(count[0]! * 6);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(device, count, families);
  for (let index = 0; index < count[0]!; index++) {
    if (families[index * 6]! & COMPUTE_QUEUE) return { index, timestampBits: families[index * 6 + 2]! };
  }
  return undefined;
}

function describe(vk: Vulkan, handle: bigint): PhysicalDevice | undefined {
  const family = computeQueueFamily(vk, handle);
  if (!family) return undefined;
  const subgroup = new OutputStruct(1000094000, 32);
  const driver = new OutputStruct(1000196000, 536, subgroup);
  const properties = new OutputStruct(1000059001, 840, driver);
  vk.vkGetPhysicalDeviceProperties2(handle, properties.bytes);
  const storage16 = new OutputStruct(1000083000, 32);
  const features = new OutputStruct(1000059000, 240, storage16);
  vk.vkGetPhysicalDeviceFeatures2(handle, features.bytes);

  const api = properties.u32(PROPERTIES);
  return {
    handle,
    model: properties.text(PROPERTIES + 20, 256),
    driver: `${driver.text(20, 256)} ${driver.text(276, 256)}`.trim(),
    software: properties.u32(PROPERTIES + 16) === TYPE_CPU,
    apiVersion: [(api >>> 22) & 127, (api >>> 12) & 1023],
    subgroupWidth: subgroup.u32(16),
    maxBufferBytes: properties.u32(PROPERTIES + 324),
    sharedMemoryBytes: properties.u32(PROPERTIES + 512),
    maxThreads: properties.u32(PROPERTIES + 528),
    timestampPeriod: family.timestampBits > 0 ? properties.view.getFloat32(PROPERTIES + 720, true) : 0,
    storage16Bit: storage16.u32(16) !== 0,
    queueFamily: family.index,
  };
}

/** Devices with a compute queue and Vulkan 1.2, hardware before software. */
export function listPhysicalDevices(vk: Vulkan, instance: bigint): PhysicalDevice[] {
  const count = new Uint32Array(1);
  vk.vkEnumeratePhysicalDevices(instance, count, null);
  const handles = new BigUint64Array(count[0]!);
  if (handles.length > 0) vk.vkEnumeratePhysicalDevices(instance, count, handles);
  const devices: PhysicalDevice[] = [];
  for (const handle of handles) {
    const device = describe(vk, handle);
    if (device && (device.apiVersion[0] > 1 || device.apiVersion[1] >= 2)) devices.push(device);
  }
  return devices.sort((a, b) => Number(a.software) - Number(b.software));
}
