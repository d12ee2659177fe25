// peers.mjs get|parallel URL COUNT: as many GETs with Node's fetch, one after the other or 50 at once. Prints microseconds of
// CPU and of wall time per request and bytes per request.
const [, , task, url, words] = process.argv;
const count = Number(words);
const get = async () => (await (await fetch(url)).arrayBuffer()).byteLength;

await get();
const before = process.cpuUsage();
const start = process.hrtime.bigint();
let received = 0;
let left = count;
const some = async () => {
    while (left > 0) {
        left -= 1;
        received += await get();
    }
};
await Promise.all(Array.from({ length: task === 'get' ? 1 : 50 }, some));
const wall = Number(process.hrtime.bigint() - start) / 1e3;
const used = process.cpuUsage(before);
console.log(`${(used.user + used.system) / count} ${wall / count} ${received / count}`);
