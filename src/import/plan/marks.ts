import { ComponentsOfApp, HashOfApp, maxComponents } from '../../domain/licenses/marks.ts'
import { maxIdentifiedDevices } from '../../http/licenses/import-row.ts'
import type { ForeignComponent, ForeignDevice } from '../foreign.ts'

/** By what a device of a row is recognized, as the row has it. */
export type RowMarks = { machineHash?: string; components?: Record<string, string> }

/** Leaves room in a row for the ids and the names of its devices. */
const maxBytes = 128 * 1024

/**
 * By what devices are recognized here, in their order: what their app can send to the client interface in the same form. The
 * rest is left out and counted, since the devices keep their seats without it.
 */
export function marksOf(devices: readonly ForeignDevice[], note: (sentence: string) => void): RowMarks[] {
  let left = maxIdentifiedDevices
  let bytes = maxBytes
  let unusable = 0
  let beyond = 0
  const marks = devices.map(({ machine, components = [] }): RowMarks => {
    const named = namedComponents(components)
    const kept = Object.keys(named).length
    unusable += components.length - kept
    const of: RowMarks = {
      ...(HashOfApp.safeParse(machine).success && machine !== undefined && { machineHash: machine }),
      ...(kept > 0 && { components: named }),
    }
    const size = Buffer.byteLength(JSON.stringify(of))
    if (Object.keys(of).length === 0) return of
    if (left === 0 || size > bytes) {
      beyond++
      return {}
    }
    left--
    bytes -= size
    return of
  })
  if (unusable > 0) note(`Components of its devices that are left out: ${unusable}. ${form}`)
  if (beyond > 0)
    note(`${beyond} of its devices are imported without what identifies them: a row has no room for more.`)
  return marks
}

const form = `A component needs a name and 16 to 128 of A-Z a-z 0-9 + / = _ -, and a device has at most ${maxComponents}.`

/** The first components with a usable name and value. Of two whose names become the same, the first is kept. */
function namedComponents(components: readonly ForeignComponent[]): Record<string, string> {
  const named: Record<string, string> = {}
  for (const { name, value } of components) {
    const own = componentName(name ?? '')
    if (Object.hasOwn(named, own) || value === null) continue
    const more = { ...named, [own]: value }
    if (ComponentsOfApp.safeParse(more).success) Object.assign(named, { [own]: value })
  }
  return named
}

/** A name in the form of component names: lower case, and `_` for other characters. `MAC address` becomes `mac_address`. */
const componentName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, 32)
    .replace(/_+$/, '')
