import { streamName } from '../../src/domain/streams.ts'
import type { Execute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'

/** What ends a process. */
export class Killed extends Error {}

/** Ports of a process that dies before or after its nth write: nothing that it does later has an effect. */
export function mortal(ports: AllPorts, lives: number, when: 'before' | 'after'): AllPorts {
  let writes = 0
  const execute: Execute = async (...args) => {
    if (++writes > lives || (writes === lives && when === 'before'))
      throw new Killed(streamName(args[0].category, args[1]))
    const executed = await ports.execute(...args)
    if (writes >= lives) throw new Killed()
    return executed
  }
  return { ...ports, execute }
}
