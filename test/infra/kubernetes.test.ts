/**
 * The Kubernetes files are valid under its schemas, have no unknown fields, and refer only to each other's
 * existing names.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler'
import { validate as job } from 'kubernetes-models/_schemas/IoK8sApiBatchV1Job'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as namespace } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Namespace'
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { roles } from '../../src/app/roles.ts'
import { parseConfig } from '../../src/config.ts'

const schemas: Record<string, (data: unknown) => boolean> = {
  'v1 Namespace': namespace,
  'v1 ConfigMap': configMap,
  'v1 Secret': secret,
  'v1 Service': service,
  'apps/v1 Deployment': deployment,
  'batch/v1 Job': job,
  'autoscaling/v2 HorizontalPodAutoscaler': autoscaler,
  'policy/v1 PodDisruptionBudget': disruptionBudget,
  'networking.k8s.io/v1 NetworkPolicy': networkPolicy,
}

const directory = join(import.meta.dirname, '../../infra/kubernetes')
const textOf = (file: string) => readFileSync(join(directory, file), 'utf8')

const Labels = z.record(z.string(), z.string())
const Container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()),
  envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string() }),
  }),
  securityContext: z.looseObject({}),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
})
const Workload = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: Labels }),
  spec: z.looseObject({
    replicas: z.int().optional(),
    template: z.object({
      metadata: z.object({ labels: Labels }),
      spec: z.looseObject({ containers: z.array(Container), securityContext: z.looseObject({}) }),
    }),
  }),
})
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})
type Manifest = z.infer<typeof Manifest>

/** YAML anchors are resolved as the API server's clients do. */
const manifestsIn = (file: string): Manifest[] =>
  parseAllDocuments(textOf(file)).map((document) => Manifest.parse(document.toJS()))

const Kustomization = z.object({
  resources: z.array(z.string()),
  images: z.array(z.object({ name: z.string(), newName: z.string(), newTag: z.string() })),
})
const kustomization = Kustomization.parse(parse(textOf('kustomization.yaml')))
const files = [...kustomization.resources, 'secret.example.yaml']
const all = files.flatMap(manifestsIn)
const ofKind = (kind: string) => all.filter((one) => one.kind === kind)
const workloads = [...ofKind('Deployment'), ...ofKind('Job')].map((one) => Workload.parse(one))

/** Records which properties were read: a schema reads all that it knows. */
function watched(value: unknown, path: string, asked: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof name === 'symbol' || !Object.hasOwn(target, name)) return found
      asked.add(`${path}/${name}`)
      return watched(found, `${path}/${name}`, asked)
    },
  })
}

function* pathsOf(value: unknown, path = ''): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    yield `${path}/${name}`
    yield* pathsOf(inner, `${path}/${name}`)
  }
}

function problemsOf(manifest: Manifest): unknown[] {
  const validate = schemas[`${manifest.apiVersion} ${manifest.kind}`]
  if (!validate) return [`no schema for ${manifest.apiVersion} ${manifest.kind}`]
  const asked = new Set<string>()
  const valid = validate(watched(manifest, '', asked))
  const unknown = [...pathsOf(manifest)].filter((path) => !asked.has(path))
  const errors: unknown = Reflect.get(validate, 'errors')
  return [...(valid ? [] : [errors]), ...unknown.map((path) => `unknown field ${path}`)]
}

test.each(files)('%s is valid under the schemas of Kubernetes', (file) => {
  for (const manifest of manifestsIn(file)) expect(problemsOf(manifest)).toStrictEqual([])
})

test('an unknown field and a value of the wrong type are detected', () => {
  const [api] = ofKind('Deployment')
  const text = JSON.stringify(api)
  expect(problemsOf(Manifest.parse(JSON.parse(text.replace('periodSeconds', 'periodSecond'))))).toHaveLength(
    1,
  )
  expect(
    problemsOf(Manifest.parse(JSON.parse(text.replace('"maxSurge":1', '"maxSurge":true')))),
  ).not.toHaveLength(0)
})

test('all files of the directory are applied, except the example of the secrets', () => {
  expect(readdirSync(directory).sort()).toStrictEqual(['kustomization.yaml', ...files].sort())
  for (const { kind, metadata } of all) {
    expect(metadata.namespace).toBe(kind === 'Namespace' ? undefined : 'keyledger')
  }
})

describe.each(workloads.map((one) => [one.metadata.name, one] as const))('the pods of %s', (_, { spec }) => {
  const { template } = spec

  test('may only write to their data directory', () => {
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const container of template.spec.containers) {
      expect(container.securityContext).toStrictEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toStrictEqual(['/var/lib/keyledger'])
    }
  })

  test('take secrets by reference to those of the example', () => {
    const known = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const kinds: Record<string, string> = { secretRef: 'Secret', configMapRef: 'ConfigMap' }
    for (const { envFrom } of template.spec.containers) {
      for (const [how, { name }] of envFrom.flatMap(Object.entries))
        expect(known).toContain(`${kinds[how]} ${name}`)
    }
  })

  test('run the image whose tag the kustomization sets', () => {
    const [{ name, newTag } = { name: '', newTag: '' }] = kustomization.images
    for (const { image } of template.spec.containers) expect(image).toBe(`${name}:${newTag}`)
  })
})

test('every role runs in some pod', () => {
  const listed = workloads.flatMap(({ spec }) =>
    spec.template.spec.containers.flatMap(({ args }) => args[args.indexOf('--roles') + 1]?.split(',') ?? []),
  )
  expect(roles.filter((role) => !listed.includes(role))).toStrictEqual([])
})

test('only the migration job has the role for migrations', () => {
  const privileged = workloads.filter(({ spec }) => JSON.stringify(spec).includes('keyledger-migration'))
  expect(privileged.map(({ metadata }) => metadata.name)).toStrictEqual(['keyledger-migrate'])
})

describe('the variables of a pod are known to keyledger, with valid values', () => {
  const Values = z.looseObject({
    data: z.record(z.string(), z.string()).optional(),
    stringData: z.record(z.string(), z.string()).optional(),
  })
  const given = new Map(
    [...ofKind('ConfigMap'), ...ofKind('Secret')].map((one) => {
      const { data, stringData } = Values.parse(one)
      // As an operator who copies the example does; unchanged values would be refused.
      const replaced = Object.entries({ ...data, ...stringData }).map(
        ([name, value]) => [name, value.replaceAll('REPLACE', 'a'.repeat(32))] as const,
      )
      return [`${one.kind} ${one.metadata.name}`, Object.fromEntries(replaced)] as const
    }),
  )
  const kinds: Record<string, string> = { secretRef: 'Secret', configMapRef: 'ConfigMap' }
  const environmentOf = ({ spec }: z.infer<typeof Workload>): Record<string, string> => {
    const sources = spec.template.spec.containers.flatMap(({ envFrom }) => envFrom.flatMap(Object.entries))
    return Object.fromEntries(
      sources.flatMap(([how, { name }]) => Object.entries(given.get(`${kinds[how]} ${name}`) ?? {})),
    )
  }

  test.each(workloads.map((one) => [one.metadata.name, one] as const))('%s', (_, workload) => {
    const environment = environmentOf(workload)
    expect(parseConfig(environment)).toMatchObject({ host: '0.0.0.0', port: 8080 })
    for (const name of ['DATABASE_URL', 'EVENTSTORE_URL', 'NATS_URL', 'MASTER_KEY']) {
      expect(environment).toHaveProperty(`KEYLEDGER_${name}`)
    }
    const misspelt = { ...environment, KEYLEDGER_LOG_LEVELS: 'info' }
    expect(() => parseConfig(misspelt)).toThrow('did you mean KEYLEDGER_LOG_LEVEL?')
  })
})

test('every selector matches the pods of a workload, and only the autoscaler sets the number of api pods', () => {
  const Selector = z.object({ matchLabels: Labels }).loose()
  const selected = (labels: Record<string, string>) =>
    workloads.filter(({ spec }) =>
      Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value),
    )
  const Selecting = z.looseObject({ spec: z.looseObject({ selector: Selector }) })
  for (const budget of ofKind('PodDisruptionBudget')) {
    expect(selected(Selecting.parse(budget).spec.selector.matchLabels)).toHaveLength(1)
  }
  const Policy = z.looseObject({ spec: z.looseObject({ podSelector: Selector }) })
  for (const policy of ofKind('NetworkPolicy')) {
    expect(selected(Policy.parse(policy).spec.podSelector.matchLabels)).not.toHaveLength(0)
  }
  const Target = z.looseObject({
    spec: z.looseObject({ scaleTargetRef: z.looseObject({ name: z.string() }) }),
  })
  const targets = ofKind('HorizontalPodAutoscaler').map((one) => Target.parse(one).spec.scaleTargetRef.name)
  expect(targets).toStrictEqual(['keyledger-api'])
  expect(workloads.find(({ metadata }) => metadata.name === 'keyledger-api')?.spec.replicas).toBeUndefined()
})
