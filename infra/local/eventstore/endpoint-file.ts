import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The address of a running store. After a crash the file remains, so readers check the process. */
export type Endpoint = {
  url: string
  pid: number
}

/** Writes the file atomically. */
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
