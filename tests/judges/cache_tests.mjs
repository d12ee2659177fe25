// Runs the public HTTP cache tests: each request of theirs is one call of the tool with --cache.
// Arguments: the folder of the suite, the tool, an empty folder. Prints JSON: for each test its kind and its
// outcome.
//
// The suite's server learns the number of a request from a field. For the tool any unknown field may name a
// login, so it keeps the replies apart. The number travels in User-Agent, and this server restores the field.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [suite, tool, folder] = process.argv.slice(2)
const load = name => import(pathToFileURL(path.join(suite, name)))
let calls = 0

class Fields {
  constructor (lines) {
    this.map = new Map()
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 1).trim()
      this.map.set(name, this.map.has(name) ? `${this.map.get(name)}, ${value}` : value)
    }
  }

  has (name) { return this.map.has(name.toLowerCase()) }
  get (name) { return this.map.get(name.toLowerCase()) ?? null }
  forEach (action) { this.map.forEach((value, name) => action(value, name)) }
  [Symbol.iterator] () { return this.map.entries() }
}

// The last head of the file: interim replies and redirects come before it.
function lastHead (text) {
  const heads = text.split(/\r?\n\r?\n/).filter(head => head.startsWith('HTTP/'))
  const [status, ...lines] = heads[heads.length - 1].split(/\r?\n/)
  const [, code, ...phrase] = status.split(' ')
  return { status: Number(code), statusText: phrase.join(' '), headers: new Fields(lines) }
}

function words (url, init, head, body) {
  const fields = (init.headers ?? []).filter(([name]) => !['Test-Name', 'Test-ID', 'Req-Num'].includes(name))
  const number = (init.headers ?? []).find(([name]) => name === 'Req-Num')?.[1] ?? '0'
  const words = ['-q', '-s', '-S', '--max-time', '30', '-D', head, '-o', body, '-H', 'Accept:', '-A', number]
  if (init.redirect !== 'manual') words.push('-L')
  // A browser's fetch says so by these fields (Fetch Standard, HTTP-network-or-cache fetch).
  if (init.cache === 'no-cache') fields.push(['Cache-Control', 'max-age=0'])
  if (init.cache === 'reload') fields.push(['Pragma', 'no-cache'], ['Cache-Control', 'no-cache'])
  // What is not a test has no business in the cache.
  if (url.includes('/test/')) words.push('--cache', path.join(folder, 'cache'))
  if (init.method === 'HEAD') words.push('-I')
  // With a body the method is POST; -X bypasses the cache.
  else if ((init.method ?? 'GET') !== 'GET' && !(init.method === 'POST' && init.body !== undefined)) words.push('-X', init.method)
  for (const [name, value] of fields) words.push('-H', value === '' ? `${name};` : `${name}: ${value}`)
  if (init.body !== undefined) words.push('--data-raw', init.body)
  return [...words, url]
}

function fetchByTool (url, init = {}) {
  const call = path.join(folder, String(calls++))
  const [head, body] = [`${call}.head`, `${call}.body`]
  return new Promise((resolve, reject) => {
    execFile(tool, words(url, init, head, body), (error, stdout, stderr) => {
      // A cache that gets no reply and may not serve a stored one answers 504 (RFC 9111, section 5.2.2.2).
      if (error?.code === 52) return resolve({ status: 504, headers: new Fields([]), text: async () => '' })
      if (error !== null) return reject(new Error(`${error.code}: ${stderr}`))
      const reply = lastHead(fs.readFileSync(head, 'latin1'))
      const text = fs.existsSync(body) && init.method !== 'HEAD' ? fs.readFileSync(body, 'utf8') : ''
      resolve({ ...reply, text: () => Promise.resolve(text) })
    })
  })
}

const handlers = {
  config: (await load('server/handle-config.mjs')).default,
  state: (await load('server/handle-state.mjs')).default,
  test: (await load('server/handle-test.mjs')).default
}
const server = http.createServer((request, response) => {
  const [, kind, ...rest] = new URL(request.url, 'http://localhost').pathname.split('/')
  if (!(kind in handlers)) return response.writeHead(404).end()
  request.headers['req-num'] = request.headers['user-agent']
  handlers[kind](rest, request, response)
})
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
// The suite warns on stdout, where the results go.
console.log = () => {}
const config = await load('client/config.mjs')
config.setFetch(fetchByTool)
config.setBaseUrl(`http://127.0.0.1:${server.address().port}`)
// The cache is private, as a browser's.
config.setUseBrowserCache(true)
const { makeCacheTest, testResults } = await load('client/test.mjs')
const suites = (await load('tests/index.mjs')).default
const tests = suites.flatMap(group => group.tests).filter(test => test.browser_skip !== true)

async function run (tests, together) {
  const waiting = [...tests]
  const worker = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      delete testResults[test.id]
      await makeCacheTest(test)
    }
  }
  await Promise.all(Array.from({ length: together }, worker))
}

await run(tests, 4)
// Some replies are fresh for a second or two, which a machine with other work may not keep.
for (let again = 0; again < 2; again++) {
  await run(tests.filter(test => testResults[test.id] !== true && test.kind !== 'check'), 2)
}
const rows = tests.map(({ id, kind, depends_on: needs }) => (
  { id, kind: kind ?? 'required', needs: needs ?? [], outcome: testResults[id] }))
process.stdout.write(JSON.stringify(rows) + '\n')
server.close()
server.closeAllConnections()
