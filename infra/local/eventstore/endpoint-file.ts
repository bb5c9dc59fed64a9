import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a running store can be reached. After a crash the file stays behind, so readers check the process. */
export interface Endpoint {
  url: string
  pid: number
}

/** Readers see the whole file or none. */
export function writeEndpoint(directory: string, endpoint: Endpoint): void {
  const unfinished = join(directory, `.endpoint.${endpoint.pid}.json`)
  writeFileSync(unfinished, JSON.stringify(endpoint), { mode: 0o600 })
  renameSync(unfinished, endpointFile(directory))
}

export function removeEndpoint(directory: string): void {
  rmSync(endpointFile(directory), { force: true })
}

function endpointFile(directory: string): string {
  return join(directory, 'endpoint.json')
}
