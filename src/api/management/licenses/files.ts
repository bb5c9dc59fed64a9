import { z } from 'zod'
import { listFiles } from '../../../../projections/licenses/files.ts'
import { findLicense } from '../../../../projections/licenses/queries.ts'
import { type FilePorts, issueFile, releaseFile } from '../../../commands/devices/files.ts'
import { momentOf } from '../../../commands/origin.ts'
import { fileStates } from '../../../domain/licenses/seat-files.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { statement } from '../../../http/licenses/statement.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { requireLicenseId } from './licenses.ts'

const path = '/v1/licenses/:id/files'

const oneLicense = z.strictObject({ id: z.string() })

const fileOut = z
  .object({
    fileId: z.string().meta({ description: 'The id of the file', example: 'fil_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    deviceId: z.string(),
    instanceId: z.string(),
    deviceName: z.string().meta({ description: 'The label of the device', example: 'Mill 3' }),
    state: z.enum(fileStates).meta({
      description:
        '`live`: the device may go on with it, and keeps its seat. `replaced`: a newer file was made for the device. `released`: ' +
        'the device gave it back. `ended`: its time is over. `withdrawn`: it is in the list of withdrawn files',
      example: 'live',
    }),
    serial: z.int().meta({
      description: 'Of two files of a device, the higher one is newer',
      example: 1_795_253_400_000_000,
    }),
    issuedAt: momentOut.meta({ example: '2026-11-24T14:05:12.000Z' }),
    endsAt: momentOut.meta({
      description: 'Until when the device may go on',
      example: '2027-11-24T14:05:12.000Z',
    }),
  })
  .meta({ id: 'LicenseFile', description: 'A license file that was made for a device' })

const fileIn = z.strictObject({
  request: statement.meta({
    description: 'The request that the app made on the device, as text or as its QR code has it',
    example: '-----BEGIN KEYLEDGER REQUEST-----\nv4.public.…\n-----END KEYLEDGER REQUEST-----',
  }),
  days: z.int().min(1).max(36_500).optional().meta({
    description:
      'How long the file is good; as long as the key type allows when absent. It ends with the license at the latest',
    example: 365,
  }),
})

const releaseIn = z.strictObject({
  release: statement.meta({
    description: 'The release that the app made on the device, signed by the key that the file was made for',
    example: '-----BEGIN KEYLEDGER RELEASE-----\nv4.public.…\n-----END KEYLEDGER RELEASE-----',
  }),
})

/** License files: with one, a device goes on without a network. */
export function licenseFileRoutes(app: ZodApp, ports: FilePorts): void {
  listRoute(app, ports)
  issueRoute(app, ports)
  releaseRoute(app, ports)
}

const fileView = ({
  fileId,
  deviceId,
  instanceId,
  deviceName,
  state,
  serial,
  issuedAt,
  endsAt,
}: Awaited<ReturnType<typeof listFiles>>[number]) => ({
  fileId,
  deviceId,
  instanceId,
  deviceName,
  state,
  serial,
  issuedAt,
  endsAt,
})

function listRoute(app: ZodApp, ports: Ports<'db' | 'now'>): void {
  app.get(
    path,
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listLicenseFiles',
        tags: ['Licenses'],
        summary: 'List the license files that were made for the devices of a license',
        description: 'Newest first. A file that has ended stays in the list for a year after it was made.',
        params: oneLicense,
        response: {
          200: answer(
            'The files',
            z.object({ files: z.array(fileOut).meta({ description: 'The files, newest first' }) }),
          ),
          ...errors(403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const found = await findLicense(ports.db, tenantId, licenseId)
      if (!found) throw notFound('license')
      const files = await listFiles(ports.db, found.license, momentOf(ports))
      return { files: files.map(fileView) }
    },
  )
}

function issueRoute(app: ZodApp, ports: FilePorts): void {
  app.post(
    path,
    {
      config: {
        scope: 'licenses:write',
        refusedWhileSuspended: true,
        noDryRun: 'a rehearsal would sign a file that a device accepts',
      },
      schema: {
        operationId: 'createLicenseFile',
        tags: ['Licenses'],
        summary: 'Make a license file for a device without a network, which takes a seat',
        description:
          'The app makes the request on the device; only that device accepts the file. The seat stays taken until the file ends or ' +
          'the device gives it back. Asking again before the end renews it. The same request gets the same file.',
        params: oneLicense,
        body: fileIn,
        response: {
          201: answer(
            'The license file',
            z.object({
              fileId: fileOut.shape.fileId,
              instanceId: z.string(),
              endsAt: fileOut.shape.endsAt,
              file: z.string().meta({
                description: 'The file, to carry to the device',
                example: '-----BEGIN KEYLEDGER LICENSE-----\nv4.public.…\n-----END KEYLEDGER LICENSE-----\n',
              }),
            }),
          ),
          ...errors(400, 402, 403, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const input = { tenantId, licenseId, ...request.body }
      const { seat, file, text } = await issueFile(runPorts(request, ports), input, runOriginOf(request))
      reply.code(201)
      return { fileId: file.fileId, instanceId: seat.instanceId, endsAt: file.endsAt, file: text }
    },
  )
}

function releaseRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'usage'>,
): void {
  app.post(
    `${path}/release`,
    {
      config: {
        scope: 'licenses:write',
        noDryRun:
          'the device has stopped using the file already, and sending the release twice frees its seat once',
      },
      schema: {
        operationId: 'releaseLicenseFile',
        tags: ['Licenses'],
        summary:
          'Take the license file of a device back, which frees its seat; repeating it gets the same response',
        description:
          'The app makes the release on the device, and stops using the file. Without it, the seat stays taken until the file ends.',
        params: oneLicense,
        body: releaseIn,
        response: {
          200: answer(
            'The device has no seat',
            z.object({
              released: z.literal(true).meta({ description: 'Always true: the file is given back' }),
            }),
          ),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const input = { tenantId, licenseId, release: request.body.release }
      await releaseFile(runPorts(request, ports), input, runOriginOf(request))
      return { released: true as const }
    },
  )
}
