//! The assets of the dashboard, which the binary contains only in compressed form.

use pennon_tests::TestApp;
use reqwest::{Method, StatusCode};

#[tokio::test]
async fn an_asset_is_the_same_in_every_content_encoding() {
    let app = TestApp::start().await;
    let browser = app.anonymous();
    let page = browser.get("/dashboard/login").await.expect(StatusCode::OK);
    let page = String::from_utf8(page.bytes.clone()).expect("the page is text");
    let quoted = page.split('"');
    let assets: Vec<&str> = quoted
        .filter(|text| {
            text.starts_with("/dashboard/assets/") && text.strip_suffix(".png").is_none()
        })
        .collect();
    assert!(
        assets.len() > 1,
        "`cargo xtask site` comes before the build"
    );
    for asset in assets {
        let plain = browser.get(asset).await.expect(StatusCode::OK);
        assert_eq!(plain.header("content-encoding"), "");
        assert!(!plain.bytes.is_empty(), "{asset}");
        for coding in ["gzip", "br"] {
            let request = browser.request(Method::GET, asset);
            let request = request.header("accept-encoding", coding);
            let answer = browser.send(request).await.expect(StatusCode::OK);
            assert_eq!(answer.header("content-encoding"), coding, "{asset}");
            assert_eq!(answer.decompressed(), plain.bytes, "{asset}");
        }
    }
}

#[tokio::test]
async fn a_page_names_its_images_for_phones_and_previews() {
    let app = TestApp::start().await;
    let browser = app.anonymous();
    let page = browser.get("/dashboard/login").await.expect(StatusCode::OK);
    let page = String::from_utf8(page.bytes.clone()).expect("the page is text");
    for name in ["touch-icon.png", "social-card.png"] {
        let path = format!("/dashboard/assets/{name}");
        assert!(page.contains(&path), "{name}");
        let image = browser.get(&path).await.expect(StatusCode::OK);
        assert_eq!(image.header("content-type"), "image/png");
        assert!(image.bytes.starts_with(b"\x89PNG"));
    }
    // Readers of previews need an absolute address.
    let card = format!("http://{}/dashboard/assets/social-card.png", app.address());
    assert!(page.contains(&card), "{page}");
}
