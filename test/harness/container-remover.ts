/**
 * Removes the containers, networks and volumes of a test run as soon as its standard input ends: that happens with the
 * process which holds the other end, however that process ends. Its argument is the value of the label that they have.
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
