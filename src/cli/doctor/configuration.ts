import { compareWithRunning } from '../../app/start/running-configuration.ts'
import type { Check } from './check.ts'

/** Says in which variables the running servers differ from this shell, whose values all other checks take. */
export const configurationCheck = (dataDirectory: string): Check => ({
  name: 'configuration',
  run: () => {
    const servers = compareWithRunning(dataDirectory, process.env)
    const other = servers.filter(({ different }) => different.length > 0)
    if (other.length === 0) {
      const detail = servers.length === 0 ? 'no server is running here' : 'as in the running server'
      return Promise.resolve({ ok: true, required: false, detail })
    }
    const detail = other
      .map(({ pid, different }) => `process ${pid} runs with another ${different.join(', ')}`)
      .join('; ')
    const remedy = 'this report is about the variables of this shell: run doctor with those of the server'
    return Promise.resolve({ ok: false, required: false, detail, remedy })
  },
})
