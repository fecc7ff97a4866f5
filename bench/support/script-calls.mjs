/** How many scripts a server has run so far. */
export async function scriptsRun(client) {
  const stats = await client.info("commandstats");
  const calls = stats.matchAll(/^cmdstat_(?:eval|fcall)\w*:calls=(\d+)/gm);
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0);
}
