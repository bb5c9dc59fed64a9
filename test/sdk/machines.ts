// cspell:ignore wwid Cruzer modalias ioreg
import type { System } from '../../src/sdk/javascript/node/index.ts'

/** A machine as it is read: its files by their paths, what its programs print by their names, and its interfaces. */
export type Machine = {
  platform: string
  files?: Readonly<Record<string, string>>
  printed?: Readonly<Record<string, string>>
  interfaces?: Readonly<Record<string, string>>
}

/** @returns a system that has what the machine has, and fails at everything else as a real one does */
export function systemOf({ platform, files = {}, printed = {}, interfaces = {} }: Machine): System {
  return {
    platform,
    readFile: async (path) => files[path],
    async list(folder) {
      const inside = Object.keys(files).filter((path) => path.startsWith(`${folder}/`))
      return [...new Set(inside.map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''))]
    },
    run: async (program) => printed[program.split(/[\\/]/).at(-1) ?? ''],
    interfaces: () => interfaces,
  }
}

/** A laptop with Debian, as a user who is not root reads it: a dock with Ethernet is plugged in, and Docker runs. */
export const debianLaptop: Machine = {
  platform: 'linux',
  files: {
    '/etc/machine-id': '9f0c3b1de54b4c0f8a3e7f5d21c6b8aa\n',
    '/sys/block/loop0/removable': '0\n',
    '/sys/block/dm-0/removable': '0\n',
    '/sys/block/nvme0n1/removable': '0\n',
    '/sys/block/nvme0n1/device/serial': 'S4EVNX0N123456P     \n',
    '/sys/block/nvme0n1/wwid': 'eui.0025385591b01234\n',
    '/sys/block/sda/removable': '1\n',
    '/sys/block/sda/device/wwid': 't10.SanDisk Cruzer 4C530001230911115482\n',
    '/sys/class/net/docker0/address': '02:42:7f:3a:11:c2\n',
    '/sys/class/net/enp0s31f6/address': '54:e1:ad:8b:21:4f\n',
    '/sys/class/net/enp0s31f6/device/modalias': 'pci:v00008086d000015D8sv000017AAsd0000225Dbc02sc00i00\n',
    '/sys/class/net/enx00e04c680112/address': '00:e0:4c:68:01:12\n',
    '/sys/class/net/enx00e04c680112/device/modalias': 'usb:v0BDAp8153d3000dc00dsc00dp00icFFiscFFip00in00\n',
    '/sys/class/net/lo/address': '00:00:00:00:00:00\n',
    '/sys/class/net/veth41a7c0e/address': '7e:11:09:c3:55:aa\n',
    '/sys/class/net/wlp4s0/address': '7c:76:35:0a:90:11\n',
    '/sys/class/net/wlp4s0/device/modalias': 'pci:v00008086d000024FDsv00008086sd00001130bc02sc80i00\n',
  },
}

/** What root reads of it besides. */
export const debianFirmware: Readonly<Record<string, string>> = {
  '/sys/class/dmi/id/product_uuid': '4c4c4544-0042-3510-8052-b3c04f4b4e32\n',
  '/sys/class/dmi/id/product_serial': 'PF0XW123\n',
  '/sys/class/dmi/id/board_serial': 'L1HF68F00AB\n',
}

export const macBook: Machine = {
  platform: 'darwin',
  printed: {
    ioreg: `+-o J314sAP  <class IOPlatformExpertDevice, id 0x100000229, registered, matched, active, busy 0 (1193 ms), retain 38>
    {
      "IOPolledInterface" = "AppleARMWatchdogTimerHibernateHandler is not serializable"
      "IOPlatformUUID" = "1F4E5B0A-93C7-5D21-8E64-0A7B9C3D2E11"
      "manufacturer" = <"Apple Inc.">
      "IOPlatformSerialNumber" = "C02G1234Q05N"
      "model" = <"MacBookPro18,3">
    }

`,
  },
  interfaces: { lo0: '00:00:00:00:00:00', en0: 'bc:d0:74:11:22:33', en7: '00:e0:4c:68:01:12' },
}

export const windowsDesktop = {
  platform: 'win32',
  printed: {
    'reg.exe': `\r
HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r
    MachineGuid    REG_SZ    c5e1f0c4-6a0d-4b8c-9a43-2b7a7c1d5e90\r
\r
`,
    'powershell.exe': `uuid=8B2E1C40-7D3A-11EB-8F5C-3C7C3F1A2B4D\r
product=System Serial Number\r
board=210483719200561\r
disk=0025_3856_91B0_1234.\r
mac=3C7C3F1A2B4D\r
`,
  },
} satisfies Machine
