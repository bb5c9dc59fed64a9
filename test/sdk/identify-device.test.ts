// cspell:ignore wwid containerenv serviceaccount dbus Cruzer
/**
 * Guarantee: the identity of a device is the same for as long as its parts are, differs between machines and products,
 * contains no serial number, and holds nothing that many machines share. Reading it never fails.
 */
import { expect, test } from 'vitest'
import { identifyDevice, isShared, sharedValues } from '../../src/sdk/javascript/node/index.ts'
import { thisSystem } from '../../src/sdk/javascript/node/system.ts'
import { debianFirmware, debianLaptop, type Machine, macBook, systemOf, windowsDesktop } from './machines.ts'

const place = { tenantId: 'acme', productId: 'editor' }
const identify = (machine: Machine) => identifyDevice(place, systemOf(machine))
const componentsOf = async (machine: Machine) => Object.keys((await identify(machine)).device ?? {})
/** The machine with other files; those without a text are not there. */
const withFiles = (machine: Machine, files: Record<string, string | undefined>): Machine => {
  const all = Object.entries({ ...machine.files, ...files })
  return {
    ...machine,
    files: Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== undefined)),
  }
}
const nothing = { machineHash: undefined, device: {} }

test.each([
  ['Debian', debianLaptop, ['os', 'disk', 'mac']],
  [
    'Debian as root',
    withFiles(debianLaptop, debianFirmware),
    ['os', 'uuid', 'product', 'board', 'disk', 'mac'],
  ],
  ['macOS', macBook, ['uuid', 'product', 'mac']],
  ['Windows', windowsDesktop, ['os', 'uuid', 'board', 'disk', 'mac']],
])('%s is identified by what it has', async (_, machine, components) => {
  const identity = await identify(machine)
  expect(Object.keys(identity.device ?? {})).toStrictEqual(components)
  const hashes = [identity.machineHash, ...Object.values(identity.device ?? {})]
  for (const hash of hashes) expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(await identify(machine)).toStrictEqual(identity)
})

test('another product and another tenant get other hashes', async () => {
  const places = [place, { ...place, productId: 'viewer' }, { ...place, tenantId: 'globex' }]
  const identities = await Promise.all(places.map((one) => identifyDevice(one, systemOf(debianLaptop))))
  expect(new Set(identities.map(({ machineHash }) => machineHash)).size).toBe(3)
  expect(new Set(identities.map(({ device }) => device?.disk)).size).toBe(3)
})

test('a laptop stays the same without its dock, its stick and its cables, and for root', async () => {
  const { machineHash, device } = await identify(debianLaptop)
  const unplugged = withFiles(debianLaptop, {
    '/sys/class/net/enx00e04c680112/address': undefined,
    '/sys/class/net/enx00e04c680112/device/modalias': undefined,
    '/sys/block/sda/removable': undefined,
    '/sys/block/sda/device/wwid': undefined,
  })
  expect(await identify(unplugged)).toStrictEqual({ machineHash, device })
  expect(await identify(withFiles(debianLaptop, debianFirmware))).toMatchObject({ machineHash, device })
})

test('a new disk changes the disk alone', async () => {
  const before = await identify(debianLaptop)
  const after = await identify(
    withFiles(debianLaptop, { '/sys/block/nvme0n1/device/serial': 'S6B0NL0T654321A\n' }),
  )
  expect(after).toStrictEqual({ ...before, device: { ...before.device, disk: after.device?.disk } })
  expect(after.device?.disk).not.toBe(before.device?.disk)
})

test('an id counts the same in capitals, with spaces and with a zero byte', async () => {
  const { device } = await identify(withFiles(debianLaptop, debianFirmware))
  const spelled = { '/sys/class/dmi/id/product_uuid': '4C4C4544-0042-3510-8052-B3C04F4B4E32  \0' }
  const again = await identify(withFiles(debianLaptop, { ...debianFirmware, ...spelled }))
  expect(again.device).toStrictEqual(device)
})

test.each([
  ['Docker', { '/.dockerenv': '' }],
  ['Podman', { '/run/.containerenv': '' }],
  ['Kubernetes', { '/var/run/secrets/kubernetes.io/serviceaccount/token': 'x' }],
  ['an image without an id', { '/etc/machine-id': '\n' }],
])('in a container nothing is said: %s', async (_, files) => {
  expect(await identify(withFiles(debianLaptop, files))).toStrictEqual(nothing)
})

test('the id of an old Linux is found, and the ids of disks without those of the kernel', async () => {
  const old = withFiles(debianLaptop, {
    '/etc/machine-id': undefined,
    '/var/lib/dbus/machine-id': debianLaptop.files?.['/etc/machine-id'],
    '/sys/block/nvme0n1/device/serial': undefined,
    '/sys/block/nvme0n1/wwid': undefined,
    '/dev/disk/by-id/ata-Samsung_SSD_860_S3Z1NB0K': '',
    '/dev/disk/by-id/ata-Samsung_SSD_860_S3Z1NB0K-part1': '',
    '/dev/disk/by-id/ata-HL-DT-ST_DVDRAM_GU90N': '',
    '/dev/disk/by-id/usb-SanDisk_Cruzer': '',
  })
  const { machineHash } = await identify(debianLaptop)
  expect(await identify(old)).toMatchObject({ machineHash })
  expect(await componentsOf(old)).toStrictEqual(['os', 'disk', 'mac'])
})

test('a copied Windows is another machine, and without PowerShell it has no machine hash', async () => {
  const { 'reg.exe': registry, 'powershell.exe': firmware } = windowsDesktop.printed
  const withFirmware = (text: string) =>
    identify({ platform: 'win32', printed: { 'reg.exe': registry, 'powershell.exe': text } })
  const one = await identify(windowsDesktop)
  const other = await withFirmware(firmware.replace('8B2E', '8B2F'))
  expect(other.device?.os).toBe(one.device?.os)
  expect(other.machineHash).not.toBe(one.machineHash)
  const silent = await identify({ platform: 'win32', printed: { 'reg.exe': registry } })
  expect(silent).toStrictEqual({ machineHash: undefined, device: { os: one.device?.os } })
  // A board without a UUID of its own is known by the registry alone.
  const placeholder = await withFirmware('uuid=03000200-0400-0500-0006-000700080009\r\n')
  expect(placeholder.machineHash).toMatch(/^.{43}$/)
  expect(placeholder.device).toStrictEqual(silent.device)
})

test.each([
  ...sharedValues,
  '',
  '  \n',
  '0',
  '0000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '00000000-0000-0000-0000-000000000000',
  'To be filled by O.E.M.',
  'Default string\n',
  'XXXXXXXX',
  '........',
  '02:42:ac:11:00:02',
  '00:50:56:c0:00:08',
  'QM00001',
  '0QEMU_QEMU_HARDDISK_drive-scsi0',
  'persistent-disk-0',
])('%j is no id of a machine', (value) => {
  expect(isShared(value)).toBe(true)
})

test.each(['C02G1234Q05N', '54:e1:ad:8b:21:4f', '00:50:56:9a:10:22', 'vol0a1b2c3d4e5f', 'PF0XW123'])(
  '%j is one',
  (value) => {
    expect(isShared(value)).toBe(false)
  },
)

test('a system that cannot be read, and one that is not known, say nothing', async () => {
  for (const platform of ['linux', 'darwin', 'win32', 'freebsd', 'constructor']) {
    const { machineHash, device = {} } = await identify({ platform })
    expect({ machineHash, device }).toStrictEqual(nothing)
  }
  const broken = async () => Promise.reject(new Error('no'))
  expect(await identifyDevice(place, { ...systemOf(debianLaptop), readFile: broken })).toStrictEqual({})
})

test('this machine says the same twice, and what fails here is left out', async () => {
  expect(await identifyDevice(place)).toStrictEqual(await identifyDevice(place))
  expect(await thisSystem.readFile('/no/such/file')).toBeUndefined()
  expect(await thisSystem.list('/no/such/folder')).toStrictEqual([])
  expect(await thisSystem.run('/no/such/program', [])).toBeUndefined()
  expect(await thisSystem.run(process.execPath, ['-e', 'process.exit(1)'])).toBeUndefined()
  expect(await thisSystem.run(process.execPath, ['-e', 'process.stdout.write("hello")'])).toBe('hello')
  expect(Object.values(thisSystem.interfaces())).toContain('00:00:00:00:00:00')
})
