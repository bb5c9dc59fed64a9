// cspell:ignore ioreg
import type { Reading, System } from './system.ts'

/** Reads a Mac. Its first interface is built in; others come and go with docks. */
export async function readMacos({ run, interfaces }: System): Promise<Reading> {
  const printed = await run('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'])
  const property = (name: string) => new RegExp(`"${name}" = "([^"]*)"`).exec(printed ?? '')?.[1]
  const uuid = property('IOPlatformUUID')
  return {
    machine: [uuid],
    components: { uuid, product: property('IOPlatformSerialNumber'), mac: interfaces().en0 },
  }
}
