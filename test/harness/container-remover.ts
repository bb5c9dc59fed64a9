/**
 * Removes the containers, networks and volumes of a test run when its standard input ends, which happens with the
 * process at the other end, however that ends. Its argument is the value of their label.
 */
import { once } from 'node:events'
import { getContainerRuntimeClient } from 'testcontainers'
import { label } from './container-engine.ts'

const [run = ''] = process.argv.slice(2)
await once(process.stdin.resume(), 'end')
const {
  container: { dockerode },
} = await getContainerRuntimeClient()
const filters = { label: [`${label}=${run}`] }
for (const { Id } of await dockerode.listContainers({ all: true, filters })) {
  await dockerode.getContainer(Id).remove({ force: true, v: true })
}
for (const { Id } of await dockerode.listNetworks({ filters })) await dockerode.getNetwork(Id).remove()
for (const { Name } of (await dockerode.listVolumes({ filters })).Volumes) {
  await dockerode.getVolume(Name).remove({ force: true })
}
