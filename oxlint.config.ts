// Biome formats and lints; this holds only the rules that need types, and those of this project alone.
import { defineConfig } from 'oxlint'

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  // Each of its categories is off: only what is named below is checked.
  categories: { correctness: 'off' },
  plugins: ['typescript'],
  jsPlugins: ['./infra/checks/own-rules.js'],
  ignorePatterns: [
    '**/*.{js,cjs,mjs}',
    'test/flows/typed-client/{journey,program}.ts',
    'test/flows/typed-client/additions/**',
  ],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
    ],
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'max-lines': ['error', { max: 400 }],
  },
  overrides: [
    {
      files: ['src/**/*.ts', 'projections/**/*.ts', 'infra/**/*.ts'],
      rules: { 'keyledger/error-handlers': 'error' },
    },
    {
      files: ['{infra,projections,src,test}/**/*.ts'],
      rules: { 'keyledger/numbers-from-variables': 'error' },
    },
    {
      files: [
        'src/cli/**/*.ts',
        'src/config.ts',
        'src/config/**/*.ts',
        'src/verifier/{standalone,trust}.ts',
        'test/{bench,chaos}/{main,scale,soak,appender}.ts',
      ],
      rules: { 'keyledger/numbers-from-text': 'error' },
    },
  ],
})
