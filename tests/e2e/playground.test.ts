import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { arrivalsOf } from "../../docs/.vitepress/theme/playground/arrivals.js";
import { numberText, timeText } from "../../docs/.vitepress/theme/playground/format.js";
import { fromQuery } from "../../docs/.vitepress/theme/playground/settings.js";
import { buildSite, SiteServer } from "../support/built-site.js";
import { describeWithChromium } from "../support/chromium.js";
import { launchChromium } from "../support/launch-chromium.js";
import { exactRun } from "../support/playground-exact.js";

/** What the page must say of a setting, by the exact model. */
function exactFigures(query: string): Record<string, string> {
  const settings = fromQuery(query);
  const { times } = arrivalsOf(settings);
  const { grants, mostInLine } = exactRun(settings, times);
  const waits = grants.map((at, id) => at - (times[id] ?? NaN));
  return {
    done: timeText(Math.max(...grants)),
    worst: timeText(Math.max(...waits)),
    "in-line": numberText(mostInLine),
    bound: "never",
  };
}

describeWithChromium("the playground in Chromium", () => {
  let browser: Browser;
  let site: SiteServer;
  let page: Page;
  const complaints: string[] = [];

  const open = async (query: string, options: BrowserContextOptions = {}): Promise<void> => {
    const context = await browser.newContext(options);
    page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== site.origin) complaints.push(`asks ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) complaints.push(`${String(response.status())} ${response.url()}`);
    });
    await page.goto(`${site.origin}/playground${query}`);
  };
  /** The numbers on the page, once the run is over. */
  const figures = async (): Promise<Record<string, string>> => {
    await page.waitForSelector("dl[aria-busy=false]");
    const pairs = await page
      .locator("[data-figure]")
      .evaluateAll((all) => all.map((one) => [one.getAttribute("data-figure") ?? "", one.textContent]));
    return Object.fromEntries(pairs) as Record<string, string>;
  };
  const press = async (label: string, key: string, times = 1): Promise<void> => {
    await page.getByLabel(label, { exact: true }).first().focus();
    for (let count = 0; count < times; count += 1) await page.keyboard.press(key);
  };
  const query = (): string => new URL(page.url()).search;

  beforeAll(async () => {
    buildSite();
    site = await SiteServer.start();
    browser = await launchChromium();
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  beforeEach(() => {
    complaints.length = 0;
  });
  afterEach(async () => {
    await page.context().close();
    expect(complaints).toEqual([]);
  });

  test("says what the exact model says, also after a slider was moved by keyboard", async () => {
    await open("");
    expect(await figures()).toMatchObject(exactFigures(""));
    await press("Rate", "ArrowLeft", 4);
    await press("Burst window", "ArrowRight", 2);
    expect(query()).toBe("?rate=48&burst=2");
    expect(await page.getByLabel("Rate", { exact: true }).first().inputValue()).toBe("48");
    const after = await figures();
    expect(after).toMatchObject(exactFigures("?rate=48&burst=2"));
    expect(after).not.toEqual(exactFigures(""));
  });

  test("draws what it says: the bound, the arrivals and the grants", async () => {
    await open("?arrivals=fan-out&pauseFor=5&pauseAt=2");
    expect(await figures()).toMatchObject(exactFigures("?arrivals=fan-out&pauseFor=5&pauseAt=2"));
    const heights = await page
      .locator(
        "figure path.arrivals, figure path.grants, figure path.bound, figure path.waiting, figure path.first",
      )
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(heights.filter((height) => height > 40)).toHaveLength(5);
  });

  test("keeps the setting in the address: back, forward, and when the page is loaded again", async () => {
    await open("");
    await figures();
    await press("Rate", "ArrowRight", 3);
    await page.getByLabel("They come").selectOption("poisson");
    await press("Seed", "ArrowRight");
    await page.getByLabel("Requests draw from it too").focus();
    await page.keyboard.press("Space");
    const last = "?arrivals=poisson&rate=51.5&seed=2&second=on";
    expect(query()).toBe(last);
    const shown = await figures();
    expect(shown).toMatchObject(exactFigures(last));

    for (const [steps, earlier] of [
      [1, "?arrivals=poisson&rate=51.5&seed=2"],
      [2, "?rate=51.5"],
      [1, ""],
    ] as const) {
      for (let step = 0; step < steps; step += 1) await page.goBack();
      await page.waitForFunction((search) => location.search === search, earlier);
      expect(await figures()).toMatchObject(exactFigures(earlier));
    }
    await page.goForward();
    expect(await page.getByLabel("Rate", { exact: true }).first().inputValue()).toBe("51.5");

    await page.goto(site.origin + "/playground" + last);
    expect(await figures()).toEqual(shown);
    await page.reload();
    expect(await figures()).toEqual(shown);
    expect(await page.getByLabel("Requests draw from it too").isChecked()).toBe(true);
  });

  test("takes what is right in a broken address, and starts over", async () => {
    await open("?rate=fast&burst=2&arrivals=nonsense&second=maybe");
    expect(await figures()).toMatchObject(exactFigures("?burst=2"));
    await page.getByRole("button", { name: "Start over" }).click();
    expect(query()).toBe("");
    expect(await figures()).toMatchObject(exactFigures(""));
  });

  test("plays an hour, and lets go of it when the setting changes meanwhile", async () => {
    await open("?perSecond=5&duration=3600&rate=4");
    await press("Burst window", "End");
    // 240 tokens at first and 4 a second: 18,000 need 4440 s, and 14,639 had theirs when the last one came.
    expect(await figures()).toMatchObject({ done: "74 min", "in-line": "3,361", bound: "never" });
  });

  test("tells when there are too many requests", async () => {
    await open("?perSecond=400&duration=3600");
    expect((await figures())["done"]).toBe("6.65 min");
    expect(await page.getByRole("note").textContent()).toContain("the first 20,000 of them");
  });

  test.each(["light", "dark"] as const)("fits a phone, in %s", async (colorScheme) => {
    await open("?second=on", { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme });
    expect(await figures()).toMatchObject(exactFigures("?second=on"));
    const sizes = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(sizes).toEqual([390, 390]);
    const small = await page
      .locator("figure svg text")
      .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 11).length);
    expect(small).toBe(0);
  });
});
