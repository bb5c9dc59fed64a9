// cspell:ignore VMBUS HKLM
import type { Reading, System } from './system.ts'

/** Prints a line for each value that there is. A serial number is that of the first disk that is not plugged in by USB. */
const script = [
  "$ErrorActionPreference = 'SilentlyContinue'",
  '$product = Get-CimInstance Win32_ComputerSystemProduct',
  "'uuid=' + $product.UUID",
  "'product=' + $product.IdentifyingNumber",
  "'board=' + (Get-CimInstance Win32_BaseBoard).SerialNumber",
  "$disks = Get-CimInstance Win32_DiskDrive | Where-Object { $_.InterfaceType -ne 'USB' } | Sort-Object Index",
  "'disk=' + ($disks | Select-Object -First 1).SerialNumber",
  "$cards = Get-CimInstance -Namespace root/StandardCimv2 MSFT_NetAdapter | Where-Object { $_.PnPDeviceID -match '^(PCI|VMBUS)' }",
  "'mac=' + ($cards | Sort-Object PermanentAddress | Select-Object -First 1).PermanentAddress",
].join('; ')

/**
 * Reads a machine with Windows. A copied installation has the same MachineGuid, so the UUID of the firmware belongs to
 * the machine as well; while PowerShell does not answer, the machine has no hash rather than another one.
 */
export async function readWindows({ run }: System): Promise<Reading> {
  const folder = `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32`
  const registry = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64']
  const [registered, printed] = await Promise.all([
    run(`${folder}\\reg.exe`, registry),
    run(`${folder}\\WindowsPowerShell\\v1.0\\powershell.exe`, [
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      script,
    ]),
  ])
  const os = /MachineGuid\s+REG_SZ\s+(\S+)/.exec(registered ?? '')?.[1]
  const line = (name: string) => new RegExp(`^${name}=([^\\r\\n]+)`, 'm').exec(printed ?? '')?.[1]
  const uuid = line('uuid')
  const mac = line('mac')?.match(/../g)?.join(':')
  return {
    machine: [os, uuid],
    components: { os, uuid, product: line('product'), board: line('board'), disk: line('disk'), mac },
  }
}
