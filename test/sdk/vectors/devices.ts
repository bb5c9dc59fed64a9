import { createHash } from 'node:crypto'
import { sharedValues } from '../../../src/sdk/javascript/node/index.ts'
import { place } from './keys.ts'

const hashOf = (name: string, values: readonly string[], { tenantId, productId } = place): string =>
  createHash('sha256')
    .update(JSON.stringify(['keyledger device', tenantId, productId, name, ...values]))
    .digest('base64url')

type Reading = { machine: readonly (string | null)[]; components: Readonly<Record<string, string | null>> }

const reading = (
  name: string,
  why: string,
  read: Reading,
  {
    machine,
    components,
    in: at = place,
  }: { machine: readonly string[] | null; components: Record<string, string>; in?: typeof place },
) => ({
  name,
  why,
  ...at,
  ...read,
  machineHash: machine && hashOf('machine', machine, at),
  device: Object.fromEntries(
    Object.entries(components).map(([part, value]) => [part, hashOf(part, [value], at)]),
  ),
})

const os = '9f0c3b1de54b4c0f8a3e7f5d21c6b8aa'
const uuid = '4c4c4544-0042-3510-8052-b3c04f4b4e32'
const disk = 's4evnx0n123456p'
const elsewhere = { tenantId: 'globex', productId: 'viewer' }

/** What is read of a machine, and the hashes that are sent of it. */
const readings = () => [
  reading(
    'one id',
    'a machine with Linux',
    { machine: [os], components: { os } },
    { machine: [os], components: { os } },
  ),
  reading(
    'two ids',
    'a machine with Windows: that of the system and that of the firmware',
    { machine: [os, uuid], components: {} },
    { machine: [os, uuid], components: {} },
  ),
  reading(
    'another product',
    'another product gets other hashes',
    { machine: [os], components: { disk } },
    { machine: [os], components: { disk }, in: elsewhere },
  ),
  reading(
    'upper case and an end of line',
    'programs write the same value differently',
    { machine: [` ${os.toUpperCase()}\n`], components: { disk: ' S4EVNX0N123456P \0\0' } },
    { machine: [os], components: { disk } },
  ),
  reading(
    'an id that could not be read',
    'another hash would stand for another machine',
    { machine: [os, null], components: { os } },
    { machine: null, components: { os } },
  ),
  reading(
    'an id that many machines share',
    'the other one tells the machine',
    {
      machine: [os, '03000200-0400-0500-0006-000700080009'],
      components: { uuid: '03000200-0400-0500-0006-000700080009', os },
    },
    { machine: [os], components: { os } },
  ),
  reading(
    'nothing but what many machines share',
    'nothing is made up',
    { machine: ['uninitialized'], components: { board: 'Default string', mac: '02:42:ac:11:00:02' } },
    { machine: null, components: {} },
  ),
  reading(
    'nothing at all',
    'a container',
    { machine: [], components: {} },
    { machine: null, components: {} },
  ),
  reading(
    'parts that could not be read',
    'they are left out',
    { machine: [os], components: { uuid: null, product: null, disk } },
    { machine: [os], components: { disk } },
  ),
  reading(
    'a quote and a backslash',
    'they are written as JSON writes them',
    { machine: ['a"b\\c'], components: {} },
    { machine: ['a"b\\c'], components: {} },
  ),
  reading(
    'letters with accents',
    'text is hashed as UTF-8, not escaped',
    { machine: ['Größe-1'], components: {} },
    { machine: ['größe-1'], components: {} },
  ),
  reading(
    'a tab inside',
    'a control character is escaped as JSON does',
    { machine: ['a\tb1'], components: {} },
    { machine: ['a\tb1'], components: {} },
  ),
]

const known: [string, boolean, string][] = [
  ...sharedValues.map((value): [string, boolean, string] => [value, true, 'many machines have it']),
  ...sharedValues
    .slice(0, 6)
    .map((value): [string, boolean, string] => [
      ` ${value.toUpperCase()}\0\n`,
      true,
      'case, white space and zero bytes do not count',
    ]),
  ['', true, 'empty'],
  ['0', true, 'one character'],
  ['00000000-0000-0000-0000-000000000000', true, 'one character over and over'],
  ['FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', true, 'one character over and over'],
  ['XXXXXXXX', true, 'one character over and over'],
  ['..........', true, 'no letter and no digit'],
  ['02:42:ac:11:00:02', true, 'an address that software has chosen'],
  ['7E:11:09:C3:55:AA', true, 'an address that software has chosen'],
  ['01:00:5e:00:00:fb', true, 'the address of a group'],
  ['54:e1:ad:8b:21:4f', false, 'the address of a card'],
  ['7c:76:35:0a:90:11', false, 'the address of a card'],
  ['00:50:56:c0:00:08', true, 'the adapter of a host for its virtual machines'],
  ['00:50:56:3f:11:08', false, 'the card of a virtual machine, which is its own'],
  ['00:1c:42:00:00:08', true, 'the adapter of a host for its virtual machines'],
  ['QEMU HARDDISK QM00001', true, 'the disk of a virtual machine'],
  ['drive-scsi0', true, 'the disk of a virtual machine'],
  ['persistent-disk-0', true, 'the disk of a virtual machine'],
  ['S4EVNX0N123456P', false, 'the serial number of a disk'],
  ['eui.0025385591b01234', false, 'the id of a disk'],
  ['PF0XW123', false, 'the serial number of a laptop'],
  [uuid, false, 'the UUID of a laptop'],
  [os, false, 'the id of an installed system'],
]

export const devices = () => ({
  readings: readings(),
  cases: known.map(([value, isShared, why]) => ({
    name: JSON.stringify(value),
    value,
    shared: isShared,
    why,
  })),
})
