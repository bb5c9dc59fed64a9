// cspell:ignore dbus containerenv nvme mmcblk virtio wwid modalias
import { isShared } from './shared-values.ts'
import type { Reading, System } from './system.ts'

/**
 * Reads a machine with Linux. The serial numbers of board and product are only readable for root. In a container
 * nothing is read: its files come from an image, and its disks and addresses are those of the host.
 */
export async function readLinux(system: System): Promise<Reading> {
  const os = (await system.readFile('/etc/machine-id')) ?? (await system.readFile('/var/lib/dbus/machine-id'))
  if (os?.trim() === '' || (await isContainer(system))) return { machine: [], components: {} }
  const dmi = (name: string) => system.readFile(`/sys/class/dmi/id/${name}`)
  const deviceTree = '/sys/firmware/devicetree/base/serial-number'
  const [uuid, product, board, disk, mac] = await Promise.all([
    dmi('product_uuid'),
    dmi('product_serial').then((serial) => serial ?? system.readFile(deviceTree)),
    dmi('board_serial'),
    readDisk(system),
    readMac(system),
  ])
  return { machine: [os], components: { os, uuid, product, board, disk, mac } }
}

async function isContainer({ readFile, list }: System): Promise<boolean> {
  const marks = await Promise.all([readFile('/.dockerenv'), readFile('/run/.containerenv')])
  const secrets = await list('/var/run/secrets/kubernetes.io')
  return secrets.length > 0 || marks.some((mark) => mark !== undefined)
}

/** Kinds of disks that stay in a machine, by the names that the kernel gives them. */
const diskKinds = [/^nvme\d+n\d+$/, /^sd[a-z]+$/, /^vd[a-z]+$/, /^xvd[a-z]+$/, /^mmcblk\d+$/]

/** The id of the first disk that has one and is not removable. */
async function readDisk(system: System): Promise<string | undefined> {
  const names = (await system.list('/sys/block')).toSorted()
  for (const name of diskKinds.flatMap((kind) => names.filter((one) => kind.test(one)))) {
    const id = await diskId(system, `/sys/block/${name}`)
    if (id !== undefined) return id
  }
  const ids = (await system.list('/dev/disk/by-id')).toSorted()
  return ids.find((id) => /^(nvme|ata|scsi|wwn|mmc|virtio)-/.test(id) && !/-part\d+$|_DVD/.test(id))
}

async function diskId({ readFile }: System, folder: string): Promise<string | undefined> {
  const removable = await readFile(`${folder}/removable`)
  const type = await readFile(`${folder}/device/type`)
  // A card in a reader is no part of the machine, and its reader does not call it removable.
  if (removable?.trim() === '1' || type?.trim() === 'SD') return undefined
  for (const file of ['device/serial', 'serial', 'wwid', 'device/wwid']) {
    const id = await readFile(`${folder}/${file}`)
    if (id !== undefined && !isShared(id)) return id
  }
  return undefined
}

/**
 * The address of the first network interface that is built in, whether it is connected or not: with the connected ones
 * alone, a laptop would be another machine when its cable is pulled. Bridges, tunnels and the like have no device.
 */
async function readMac({ readFile, list }: System): Promise<string | undefined> {
  for (const name of (await list('/sys/class/net')).toSorted()) {
    const bus = await readFile(`/sys/class/net/${name}/device/modalias`)
    if (bus === undefined || bus.startsWith('usb:')) continue
    const address = await readFile(`/sys/class/net/${name}/address`)
    if (address !== undefined && !isShared(address)) return address
  }
  return undefined
}
