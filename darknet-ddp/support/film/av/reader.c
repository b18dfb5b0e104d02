#include "film/av/fail.h"
#include "film/av/module.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
#include <stdlib.h>

struct ddp_film_reader {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct SwsContext *scale;
    int stream;
    int width, height;
};

void ddp_film_close(ddp_film_reader *film)
{
    if (!film)
        return;
    sws_freeContext(film->scale);
    av_frame_free(&film->frame);
    av_packet_free(&film->packet);
    avcodec_free_context(&film->codec);
    avformat_close_input(&film->format);
    free(film);
}

/* Find the film's pictures among its streams, and open their decoder. Returns a code of libav. */
static int open_decoder(ddp_film_reader *film)
{
    const AVCodec *decoder;
    int st = avformat_find_stream_info(film->format, NULL);

    if (st < 0)
        return st;
    st = av_find_best_stream(film->format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (st < 0)
        return st;
    film->stream = st;
    film->codec = avcodec_alloc_context3(decoder);
    film->packet = av_packet_alloc();
    film->frame = av_frame_alloc();
    if (!film->codec || !film->packet || !film->frame)
        return AVERROR(ENOMEM);
    st = avcodec_parameters_to_context(film->codec, film->format->streams[film->stream]->codecpar);
    film->codec->thread_count =
        0; /* as many as there are cores: frames ahead are decoded on them */
    return st < 0 ? st : avcodec_open2(film->codec, decoder, NULL);
}

static void fill_info(ddp_film_reader *film, ddp_film_info *info)
{
    AVStream *stream = film->format->streams[film->stream];
    AVRational rate = av_guess_frame_rate(film->format, stream, NULL);

    film->width = film->codec->width;
    film->height = film->codec->height;
    if (rate.num <= 0 || rate.den <= 0)
        rate = (AVRational){25, 1};
    *info = (ddp_film_info){.width = film->width,
                            .height = film->height,
                            .rate = rate.num,
                            .rate_divisor = rate.den,
                            .frames = stream->nb_frames > 0 ? (size_t)stream->nb_frames : 0};
}

ddp_status ddp_film_open(ddp_film_reader **out, const char *path, ddp_film_info *info,
                         ddp_error *err)
{
    ddp_film_reader *film = calloc(1, sizeof *film);
    int st;

    *out = NULL;
    if (!film)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the film %s", path);
    av_log_set_level(AV_LOG_FATAL);
    st = avformat_open_input(&film->format, path, NULL, NULL);
    if (st >= 0)
        st = open_decoder(film);
    if (st >= 0 && (film->codec->width < 1 || film->codec->height < 1))
        st = AVERROR_INVALIDDATA;
    if (st < 0) {
        ddp_film_close(film);
        return ddp_film_fail(err, "cannot read the film", path, st);
    }
    fill_info(film, info);
    *out = film;
    return DDP_OK;
}

/* Give the decoder the next packet of the film's pictures, or tell it that there are no more. */
static void feed(ddp_film_reader *film)
{
    while (av_read_frame(film->format, film->packet) >= 0) {
        int is_ours = film->packet->stream_index == film->stream;

        if (is_ours)
            (void)avcodec_send_packet(film->codec, film->packet); /* damaged ones are passed over */
        av_packet_unref(film->packet);
        if (is_ours)
            return;
    }
    (void)avcodec_send_packet(film->codec, NULL);
}

ddp_status ddp_film_read(ddp_film_reader *film, unsigned char *rgb, int *got, ddp_error *err)
{
    unsigned char *planes[4] = {rgb};
    int strides[4] = {3 * film->width}, st;

    *got = 0;
    while ((st = avcodec_receive_frame(film->codec, film->frame)) == AVERROR(EAGAIN)
           || st == AVERROR_INVALIDDATA)
        feed(film);
    if (st == AVERROR_EOF)
        return DDP_OK;
    if (st < 0)
        return ddp_film_fail(err, "cannot read a frame of", film->format->url, st);
    film->scale =
        sws_getCachedContext(film->scale, film->frame->width, film->frame->height,
                             (enum AVPixelFormat)film->frame->format, film->width, film->height,
                             AV_PIX_FMT_RGB24, SWS_BILINEAR, NULL, NULL, NULL);
    if (!film->scale)
        return ddp_film_fail(err, "no memory for a frame of", film->format->url, AVERROR(ENOMEM));
    (void)sws_scale(film->scale, (const unsigned char *const *)film->frame->data,
                    film->frame->linesize, 0, film->frame->height, planes, strides);
    *got = 1;
    return DDP_OK;
}
