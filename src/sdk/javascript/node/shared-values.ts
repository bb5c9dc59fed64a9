// cspell:ignore virtio
/**
 * Serial numbers, ids and addresses that many machines have in common: what a manufacturer has not filled in, what a
 * virtual machine is given, and what software chooses. SDKs in other languages use the same list.
 */

/** Whole values, as {@link plain} returns them. */
export const sharedValues: readonly string[] = [
  // Placeholders of firmware.
  'to be filled by o.e.m.',
  'to be filled by oem',
  'o.e.m.',
  'oem',
  'default string',
  'default',
  'default_string',
  'none',
  'null',
  'n/a',
  'na',
  'unknown',
  'invalid',
  'standard',
  'not specified',
  'not available',
  'not applicable',
  'not provided',
  'no asset tag',
  'empty',
  'serial number',
  'serial',
  'system serial number',
  'base board serial number',
  'chassis serial number',
  'product serial number',
  'system product name',
  '123456789',
  '1234567890',
  '0123456789',
  '0123456789abcdef',
  // SMBIOS UUIDs of boards whose firmware has none, in both byte orders.
  '03000200-0400-0500-0006-000700080009',
  '00020003-0004-0005-0006-000700080009',
  '03020100-0504-0706-0809-0a0b0c0d0e0f',
  '00010203-0405-0607-0809-0a0b0c0d0e0f',
  '10000000-0000-8000-0040-000000000000',
  '12345678-1234-5678-90ab-cddeefaabbcc',
  '12345678-1234-1234-1234-123456789abc',
  'deadbeef-dead-beef-dead-beefdeadbeef',
  'fefefefe-fefe-fefe-fefe-fefefefefefe',
  // The machine-id of an image that has not been started yet.
  'uninitialized',
  // Adapters that software adds with the same address everywhere: modems and VPN clients.
  '00:53:45:00:00:00',
  '44:45:53:54:42:00',
  '50:50:54:50:30:30',
  '20:41:53:59:4e:ff',
  '00:05:9a:3c:7a:00',
  '00:09:0f:aa:00:01',
  '00:09:0f:fe:00:01',
]

/** Forms of values, likewise. */
export const sharedPatterns: readonly RegExp[] = [
  // MAC addresses that software has chosen, such as 02:42:ac:11:00:02 of Docker, and those of groups.
  /^[0-9a-f][^048c](:[0-9a-f]{2}){5}$/,
  // The adapters of a host for its virtual machines: VMware, and Parallels.
  /^00:50:56:c0:00:/,
  /^00:1c:42:00:00:/,
  // The disks of virtual machines: QEMU, Proxmox, Google Cloud.
  /qm0000\d$/,
  /drive-(ide|sata|scsi|virtio)\d+$/,
  /persistent-disk-\d+$/,
]

/** Firmware and tools write the same value in different cases, and end it with spaces, a line or a zero byte. */
export const plain = (value: string): string => value.replaceAll('\0', '').trim().toLowerCase()

/**
 * Whether a value tells nothing about a machine, because many have it. Empty values are, and those of one character over and
 * over: zeros, `FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF`, `XXXXXXXX`.
 */
export function isShared(value: string): boolean {
  const text = plain(value)
  const characters = new Set(text.replaceAll(/[^a-z0-9]/g, ''))
  return (
    characters.size < 2 || sharedValues.includes(text) || sharedPatterns.some((pattern) => pattern.test(text))
  )
}
