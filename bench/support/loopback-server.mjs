// The other process of a scenario that calls a server: answers each request alike, and prints its port.
import { createServer } from "node:http";

const ANSWER = JSON.stringify({ text: "As high as yesterday.", usage: { total_tokens: 120 } });

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": ANSWER.length });
    response.end(ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${String(server.address().port)}\n`));
// Ends with the one who started it, however that ends.
process.stdin.resume().on("end", () => process.exit());
